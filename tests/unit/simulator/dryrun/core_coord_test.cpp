// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <tt-metalium/work_split.hpp>

#include "fixtures.hpp"

namespace dryrun_test {
namespace {

TEST(CoreRange, PrintsAsInTheRuntimesErrors) { EXPECT_EQ(grid(8, 8).str(), "[0-0 - 7-7]"); }

TEST(CoreRange, RejectsAnEndBeforeTheStart) {
  EXPECT_THROW(CoreRange({3, 0}, {2, 5}), std::runtime_error);
}

TEST(CoreRange, VisitsItsCoresRowByRow) {
  std::vector<CoreCoord> visited;
  for (const CoreCoord& core : CoreRange({1, 1}, {2, 2})) visited.push_back(core);
  EXPECT_EQ(visited, (std::vector<CoreCoord>{{1, 1}, {2, 1}, {1, 2}, {2, 2}}));
}

TEST(CoreRangeSet, RejectsOverlappingRanges) {
  const std::vector<CoreRange> ranges{grid(4, 4), CoreRange({3, 3}, {5, 5})};
  EXPECT_THROW(CoreRangeSet{ranges}, std::runtime_error);
}

TEST(CoreRangeSet, MergesEqualRunsOfNeighbouringRows) {
  const std::vector<CoreRange> quarters{CoreRange({4, 4}, {7, 7}), CoreRange({0, 4}, {3, 7}),
                                        CoreRange({4, 0}, {7, 3}), CoreRange({0, 0}, {3, 3})};
  EXPECT_EQ(CoreRangeSet(quarters).merge_ranges(), CoreRangeSet(grid(8, 8)));
}

TEST(CoreRangeSet, MergedRangesCoverTheSameCoresAndAreSorted) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<CoreCoord> cores;
    for (const CoreCoord& core : grid(8, 7)) {
      if (random() % 3 != 0) cores.push_back(core);
    }
    const CoreRangeSet merged{cores};
    EXPECT_EQ(merged.num_cores(), cores.size());
    for (const CoreCoord& core : cores) EXPECT_TRUE(merged.contains(core));
    EXPECT_TRUE(std::is_sorted(merged.ranges().begin(), merged.ranges().end()));
  }
}

TEST(CoreRangeSet, SubtractLeavesExactlyTheOtherCores) {
  const CoreRangeSet all = grid(8, 8);
  const CoreRangeSet hole = CoreRange({2, 3}, {5, 4});
  const CoreRangeSet rest = all.subtract(hole);
  EXPECT_EQ(rest.num_cores(), 56u);
  EXPECT_FALSE(rest.intersects(hole));
  EXPECT_TRUE(all.contains(rest));
}

TEST(SplitWork, GivesTheFirstCoresOneUnitMore) {
  const auto [cores, all, busier, others, more, less] = split_work_to_cores({8, 8}, 100);
  EXPECT_EQ(cores, 64u);
  EXPECT_EQ(all, CoreRangeSet(grid(8, 8)));
  EXPECT_EQ(busier.num_cores(), 36u);
  EXPECT_EQ(others.num_cores(), 28u);
  EXPECT_FALSE(busier.intersects(others));
  EXPECT_EQ(busier.num_cores() * more + others.num_cores() * less, 100u);
}

TEST(SplitWork, UsesNoMoreCoresThanThereIsWork) {
  const auto [cores, all, busier, others, more, less] = split_work_to_cores({8, 8}, 11);
  EXPECT_EQ(cores, 11u);
  EXPECT_EQ(all.num_cores(), 11u);
  EXPECT_TRUE(others.empty());
  EXPECT_EQ(more, 1u);
}

}  // namespace
}  // namespace dryrun_test
