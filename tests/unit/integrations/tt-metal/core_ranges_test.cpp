// SPDX-License-Identifier: Apache-2.0
#include "core_ranges.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ttmem::tt_metal {
namespace {

namespace tm = ::tt::tt_metal;

// Returns `count` separate ranges of one core each: every second core of the row `y`.
tm::CoreRangeSet row(std::size_t count, std::size_t y = 0) {
  std::vector<tm::CoreRange> ranges;
  for (std::size_t i = 0; i < count; ++i) ranges.emplace_back(tm::CoreCoord(2 * i, y));
  return tm::CoreRangeSet(ranges);
}

TEST(CoreRangesTest, HasTheRangesOfTheSet) {
  for (const std::size_t count : {0U, 1U, 2U, 3U, 6U}) {
    const CoreRanges cores(row(count, 1));
    ASSERT_EQ(cores.ranges().size(), count);
    EXPECT_EQ(cores.empty(), count == 0);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(cores.ranges()[i].x0, 2 * i);
      EXPECT_EQ(cores.ranges()[i].x1, 2 * i);
      EXPECT_EQ(cores.ranges()[i].y0, 1);
      EXPECT_EQ(cores.ranges()[i].y1, 1);
    }
  }
}

TEST(CoreRangesTest, IsEqualToTheSameRanges) {
  for (const std::size_t count : {1U, 2U, 3U}) {
    const CoreRanges cores(row(count));
    const std::vector<CoreRanges> copies(2, cores);
    EXPECT_TRUE(copies[1] == cores);
    EXPECT_TRUE(cores == row(count));
    EXPECT_FALSE(cores == row(count, 1));
    EXPECT_FALSE(cores == row(count + 1));
    EXPECT_FALSE(cores == CoreRanges(row(count + 1)));
  }
}

TEST(CoreRangesTest, IntersectsWhereBothHaveACore) {
  const CoreRanges block(tm::CoreRangeSet(tm::CoreRange({1, 1}, {3, 3})));
  EXPECT_TRUE(block.intersects(CoreRanges(row(3, 2))));
  EXPECT_FALSE(block.intersects(CoreRanges(row(3, 0))));
  EXPECT_FALSE(block.intersects(CoreRanges(row(1, 2))));
  EXPECT_FALSE(block.intersects(CoreRanges()));
}

}  // namespace
}  // namespace ttmem::tt_metal
