// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/kinds.hpp"
#include "read/model/device_name.hpp"

namespace ttmem::leaks {

// Selects what is searched for leaks. An empty field does not restrict the search, except `kinds`.
struct Filter {
  std::optional<std::int32_t> pid;
  std::vector<Kind> kinds;  // empty: all kinds on devices; host memory only if listed here
  // Used for a recording and for Snapshot::left_at_close. The other lists of a snapshot are
  // restricted to the devices before the search.
  std::vector<model::DeviceName> devices;

  [[nodiscard]] bool takes(Kind kind) const {
    if (kinds.empty()) return kind != Kind::system;
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  }
};

}  // namespace ttmem::leaks
