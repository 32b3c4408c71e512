// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/kinds.hpp"
#include "read/model/device_name.hpp"

namespace ttmem::leaks {

// What to look at; all when empty.
struct Filter {
  std::optional<std::int32_t> pid;
  std::vector<Kind> kinds;                 // empty: all of a device; host memory only by its name
  std::vector<model::DeviceName> devices;  // of a recording; a snapshot is cut to them before

  [[nodiscard]] bool takes(Kind kind) const {
    if (kinds.empty()) return kind != Kind::system;
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  }
};

}  // namespace ttmem::leaks
