// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/core_mask.hpp"
#include "base/core_range.hpp"

namespace ttmem::text {

// Disjoint rectangles that cover exactly the cores of `mask`, top to bottom. None when the number
// of columns is unknown (0).
[[nodiscard]] std::vector<CoreRange> core_ranges(const CoreMask& mask, std::uint16_t grid_x);

// "(0,0)-(7,7)", "(3,4)", "(0,0)-(3,1) +2": the first rectangle and how many more, unless all are
// asked for. Empty: none.
[[nodiscard]] std::string format_core_ranges(const std::vector<CoreRange>& ranges,
                                             bool all = false);

}  // namespace ttmem::text
