// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/core_mask.hpp"
#include "base/core_range.hpp"

namespace ttmem::text {

// Returns disjoint rectangles, from top to bottom, that cover exactly the cores of `mask`. Returns
// none if the number of columns is unknown (0).
[[nodiscard]] std::vector<CoreRange> core_ranges(const CoreMask& mask, std::uint16_t grid_x);

// Formats the first rectangle and the number of further rectangles, or all rectangles if `all` is
// true: "(0,0)-(7,7)", "(3,4)", "(0,0)-(3,1) +2". Returns an empty text if there are none.
[[nodiscard]] std::string format_core_ranges(const std::vector<CoreRange>& ranges,
                                             bool all = false);

}  // namespace ttmem::text
