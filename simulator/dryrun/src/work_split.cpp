// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tt-metalium/work_split.hpp>
#include <vector>

#include "error.hpp"

namespace tt::tt_metal {
namespace {

CoreCoord swapped(const CoreCoord& core) { return {core.y, core.x}; }

// Returns rectangles that cover the first `cores` cores of the grid from `start` on, row by row.
// The grid must have as many cores there.
std::vector<CoreRange> rows_from(CoreCoord start, std::size_t cores, CoreCoord grid) {
  std::vector<CoreRange> ranges;
  const auto take = [&](const CoreRange& range, CoreCoord next) {
    ranges.push_back(range);
    cores -= range.size();
    start = next;
  };
  if (start.x != 0 && cores > grid.x - start.x) {
    take({start, {grid.x - 1, start.y}}, {0, start.y + 1});
  }
  if (cores > grid.x) {
    const std::size_t rows = cores / grid.x;
    take({start, {grid.x - 1, start.y + rows - 1}}, {0, start.y + rows});
  }
  if (cores > 0) take({start, {start.x + cores - 1, start.y}}, start);
  return ranges;
}

}  // namespace

CoreRangeSet num_cores_to_corerangeset(CoreCoord start_core, std::uint32_t target_num_cores,
                                       CoreCoord grid_size, bool row_wise) {
  const CoreCoord start = row_wise ? start_core : swapped(start_core);
  const CoreCoord grid = row_wise ? grid_size : swapped(grid_size);
  dryrun::require(start.x < grid.x && start.y < grid.y, "Start core must be within grid size");
  const std::size_t available = (grid.y - 1 - start.y) * grid.x + grid.x - start.x;
  dryrun::require(target_num_cores <= available, "Target number of cores ", target_num_cores,
                  " is greater than total number of available cores ", available);
  std::vector<CoreRange> ranges = rows_from(start, target_num_cores, grid);
  if (!row_wise) {
    for (CoreRange& range : ranges) {
      range = CoreRange(swapped(range.start_coord), swapped(range.end_coord));
    }
  }
  return {std::move(ranges)};
}

CoreRangeSet num_cores_to_corerangeset(std::uint32_t target_num_cores, CoreCoord grid_size,
                                       bool row_wise) {
  return num_cores_to_corerangeset({0, 0}, target_num_cores, grid_size, row_wise);
}

std::tuple<std::uint32_t, CoreRangeSet, CoreRangeSet, CoreRangeSet, std::uint32_t, std::uint32_t>
split_work_to_cores(CoreCoord grid_size, std::uint32_t units_to_divide, bool row_wise) {
  if (units_to_divide == 0) return {0, CoreRangeSet(), CoreRangeSet(), CoreRangeSet(), 0, 0};
  const auto grid_cores = static_cast<std::uint32_t>(grid_size.x * grid_size.y);
  const std::uint32_t cores = std::min(units_to_divide, grid_cores);
  const CoreRangeSet all = cores == grid_cores
                               ? CoreRangeSet(CoreRange({0, 0}, {grid_size.x - 1, grid_size.y - 1}))
                               : num_cores_to_corerangeset(cores, grid_size, row_wise);
  const std::uint32_t units = units_to_divide / cores;
  const std::uint32_t busier = units_to_divide % cores;
  if (busier == 0) return {cores, all, all, CoreRangeSet(), units, 0};

  const CoreRangeSet group_1 = num_cores_to_corerangeset(busier, grid_size, row_wise);
  const CoreCoord next = row_wise ? CoreCoord(busier % grid_size.x, busier / grid_size.x)
                                  : CoreCoord(busier / grid_size.y, busier % grid_size.y);
  const CoreRangeSet group_2 = num_cores_to_corerangeset(next, cores - busier, grid_size, row_wise);
  return {cores, all, group_1, group_2, units + 1, units};
}

}  // namespace tt::tt_metal
