// SPDX-License-Identifier: Apache-2.0
#include "track/ledger/interval_union.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace ttmem::ledger {
namespace {

TEST(IntervalUnion, CountsSharedBytesOnce) {
  IntervalUnion ranges;
  ranges.add({10, 30});
  ranges.add({20, 40});
  EXPECT_EQ(ranges.length(), 30U);
  EXPECT_EQ(ranges.end(), 40U);
  ranges.remove({10, 30});
  EXPECT_EQ(ranges.length(), 20U);
}

TEST(IntervalUnion, KeepsAnIntervalUntilItsLastCopyIsRemoved) {
  IntervalUnion ranges;
  ranges.add({0, 16});
  ranges.add({0, 16});
  ranges.remove({0, 16});
  EXPECT_EQ(ranges.length(), 16U);
  ranges.remove({0, 16});
  EXPECT_EQ(ranges.length(), 0U);
  EXPECT_EQ(ranges.end(), 0U);
}

TEST(IntervalUnion, SeparatesTouchingIntervalsAgain) {
  IntervalUnion ranges;
  ranges.add({10, 20});
  ranges.add({20, 30});
  EXPECT_EQ(ranges.length(), 20U);
  ranges.remove({10, 20});
  EXPECT_EQ(ranges.length(), 10U);
  EXPECT_EQ(ranges.end(), 30U);
}

TEST(IntervalUnion, LeavesGapsOut) {
  IntervalUnion ranges;
  ranges.add({0, 10});
  ranges.add({100, 110});
  ranges.add({50, 60});
  EXPECT_EQ(ranges.length(), 30U);
  const IntervalUnion copy = ranges;
  ranges.remove({50, 60});
  EXPECT_EQ(ranges.length(), 20U);
  EXPECT_EQ(copy.length(), 30U);
}

RC_GTEST_PROP(IntervalUnion, AgreesWithCountingEveryAddress, ()) {
  constexpr std::uint32_t kAddresses = 60;
  std::vector<int> coverage(kAddresses, 0);
  std::vector<Interval> live;
  IntervalUnion ranges;
  const auto steps = *rc::gen::inRange(1, 120);
  for (int step = 0; step < steps; ++step) {
    if (!live.empty() && *rc::gen::inRange(0, 5) < 2) {
      const auto index = *rc::gen::inRange<std::size_t>(0, live.size());
      const Interval gone = live[index];
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(index));
      for (std::uint32_t at = gone.begin; at < gone.end; ++at) --coverage[at];
      ranges.remove(gone);
    } else {
      const auto begin = *rc::gen::inRange<std::uint32_t>(0, kAddresses - 1);
      const auto end = *rc::gen::inRange<std::uint32_t>(begin + 1, kAddresses);
      live.push_back({begin, end});
      for (std::uint32_t at = begin; at < end; ++at) ++coverage[at];
      ranges.add({begin, end});
    }
    std::uint32_t length = 0;
    std::uint32_t last = 0;
    for (std::uint32_t at = 0; at < kAddresses; ++at) {
      if (coverage[at] == 0) continue;
      ++length;
      last = at + 1;
    }
    RC_ASSERT(ranges.length() == length);
    RC_ASSERT(ranges.end() == last);
  }
}

}  // namespace
}  // namespace ttmem::ledger
