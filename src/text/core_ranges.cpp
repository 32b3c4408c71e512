// SPDX-License-Identifier: Apache-2.0
#include "text/core_ranges.hpp"

#include <fmt/format.h>

namespace ttmem::text {
namespace {

// Returns the runs of adjacent cores in one row, as rectangles of height one.
std::vector<CoreRange> runs_of_row(const CoreMask& mask, std::uint32_t columns, std::uint32_t y) {
  std::vector<CoreRange> runs;
  for (std::uint32_t x = 0; x < columns && y * columns + x < kMaxCores; ++x) {
    if (!mask.test(y * columns + x)) continue;
    if (!runs.empty() && runs.back().x1 + 1 == x) {
      runs.back().x1 = x;
    } else {
      runs.push_back({x, y, x, y});
    }
  }
  return runs;
}

}  // namespace

std::vector<CoreRange> core_ranges(const CoreMask& mask, std::uint16_t grid_x) {
  std::vector<CoreRange> ranges;
  if (grid_x == 0) return ranges;
  for (std::uint32_t y = 0; y * grid_x < kMaxCores; ++y) {
    for (const CoreRange& run : runs_of_row(mask, grid_x, y)) {
      bool grown = false;
      for (CoreRange& range : ranges) {
        if (range.x0 != run.x0 || range.x1 != run.x1 || range.y1 + 1 != y) continue;
        range.y1 = y;
        grown = true;
        break;
      }
      if (!grown) ranges.push_back(run);
    }
  }
  return ranges;
}

std::string format_core_ranges(const std::vector<CoreRange>& ranges, bool all) {
  std::string text;
  for (const CoreRange& range : ranges) {
    if (!text.empty() && !all) return fmt::format("{} +{}", text, ranges.size() - 1);
    text += fmt::format("{}({},{})", text.empty() ? "" : " ", range.x0, range.y0);
    if (range.x0 != range.x1 || range.y0 != range.y1) {
      text += fmt::format("-({},{})", range.x1, range.y1);
    }
  }
  return text;
}

}  // namespace ttmem::text
