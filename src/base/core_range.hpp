// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ttmem {

// A rectangle of cores; both corners are included.
struct CoreRange {
  std::uint32_t x0 = 0;
  std::uint32_t y0 = 0;
  std::uint32_t x1 = 0;
  std::uint32_t y1 = 0;

  friend bool operator==(const CoreRange&, const CoreRange&) = default;
};

}  // namespace ttmem
