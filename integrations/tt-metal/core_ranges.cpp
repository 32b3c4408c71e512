// SPDX-License-Identifier: Apache-2.0
#include "core_ranges.hpp"

#include <algorithm>

namespace ttmem::tt_metal {

namespace tm = ::tt::tt_metal;

namespace {

bool same(const ttmem_core_range& a, const ttmem_core_range& b) {
  return a.x0 == b.x0 && a.y0 == b.y0 && a.x1 == b.x1 && a.y1 == b.y1;
}

bool overlap(const ttmem_core_range& a, const ttmem_core_range& b) {
  return a.x0 <= b.x1 && b.x0 <= a.x1 && a.y0 <= b.y1 && b.y0 <= a.y1;
}

}  // namespace

ttmem_core_range core_range(const tm::CoreRange& range) {
  return {static_cast<std::uint16_t>(range.start_coord.x),
          static_cast<std::uint16_t>(range.start_coord.y),
          static_cast<std::uint16_t>(range.end_coord.x),
          static_cast<std::uint16_t>(range.end_coord.y)};
}

CoreRanges::CoreRanges(const tm::CoreRangeSet& cores) : count_(cores.ranges().size()) {
  const std::vector<tm::CoreRange>& all = cores.ranges();
  if (count_ > few_.size()) many_.resize(count_);
  std::transform(all.begin(), all.end(), many_.empty() ? few_.data() : many_.data(), core_range);
}

bool CoreRanges::intersects(const CoreRanges& other) const {
  const auto mine = ranges();
  const auto theirs = other.ranges();
  return std::any_of(mine.begin(), mine.end(), [&](const ttmem_core_range& a) {
    return std::any_of(theirs.begin(), theirs.end(),
                       [&](const ttmem_core_range& b) { return overlap(a, b); });
  });
}

bool operator==(const CoreRanges& a, const CoreRanges& b) {
  const auto left = a.ranges();
  const auto right = b.ranges();
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), same);
}

bool operator==(const CoreRanges& a, const tm::CoreRangeSet& b) {
  const auto left = a.ranges();
  const std::vector<tm::CoreRange>& right = b.ranges();
  return std::equal(
      left.begin(), left.end(), right.begin(), right.end(),
      [](const ttmem_core_range& x, const tm::CoreRange& y) { return same(x, core_range(y)); });
}

}  // namespace ttmem::tt_metal
