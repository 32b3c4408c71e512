// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tt-metalium/core_coord.hpp>
#include <tuple>

namespace tt::tt_metal {

// Returns `target_num_cores` cores of the grid, as at most three rectangles. They follow each other
// from `start_core` on: row by row if `row_wise`, otherwise column by column. Throws if the grid
// has too few cores.
CoreRangeSet num_cores_to_corerangeset(CoreCoord start_core, std::uint32_t target_num_cores,
                                       CoreCoord grid_size, bool row_wise = false);
CoreRangeSet num_cores_to_corerangeset(std::uint32_t target_num_cores, CoreCoord grid_size,
                                       bool row_wise = false);

// Distributes units of work over the cores of a grid. Returns the number of cores, all cores, a
// first group of cores, a second group of cores, and the units per core of both groups. A core of
// the first group has one unit more than a core of the second group. If the units divide evenly,
// the second group is empty.
std::tuple<std::uint32_t, CoreRangeSet, CoreRangeSet, CoreRangeSet, std::uint32_t, std::uint32_t>
split_work_to_cores(CoreCoord grid_size, std::uint32_t units_to_divide, bool row_wise = false);

}  // namespace tt::tt_metal
