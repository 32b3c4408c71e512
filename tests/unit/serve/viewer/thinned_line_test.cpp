// SPDX-License-Identifier: Apache-2.0
#include "serve/viewer/thinned_line.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace ttmem::viewer {
namespace {

constexpr std::size_t kStretches = 4;

Point point_of(Time time, std::uint64_t dram, std::uint64_t l1, std::uint64_t cb) {
  Point point{time, {}};
  point.used[Kind::dram] = dram;
  point.used[Kind::l1] = l1;
  point.used[Kind::cb] = cb;
  return point;
}

TEST(ThinnedLine, KeepsEveryVisiblePoint) {
  ThinnedLine line({0, 1000}, kStretches);
  for (const Time time : {0, 1, 2, 1000}) line.add(point_of(time, 1, 2, 3));
  line.finish();
  EXPECT_EQ(line.points().size(), 4U);
  EXPECT_FALSE(line.is_thinned());
}

TEST(ThinnedLine, LeavesUnmeasuredValuesUnknown) {
  EXPECT_EQ(drawn_l1_of(Point{}), std::nullopt);
  EXPECT_EQ(drawn_l1_of(point_of(0, 9, 2, 3)), 5U);
}

TEST(ThinnedLine, KeepsTheHighestDrawnValueWhereL1BuffersAreUnknown) {
  ThinnedLine line({0, 100}, kStretches);
  for (Time time = 0; time < 25; ++time) {
    Point point{time, {}};
    point.used[Kind::cb] = time == 3 ? 9 : time == 7 ? 8 : 1;
    point.used[Kind::kernel] = time == 5 ? 9 : time == 7 ? 8 : 1;
    line.add(point);
  }
  line.finish();
  const auto is_highest = [](const Point& point) { return drawn_l1_of(point) == 16U; };
  EXPECT_TRUE(std::any_of(line.points().begin(), line.points().end(), is_highest));
  EXPECT_LT(line.points().size(), 25U);
}

RC_GTEST_PROP(ThinnedLine, NeverLosesAPeak,
              (const std::vector<std::array<std::uint8_t, 3>>& values)) {
  RC_PRE(!values.empty());
  const auto end = static_cast<Time>(values.size());
  ThinnedLine line({0, end}, kStretches);
  std::vector<Point> all;
  for (const auto& [dram, l1, cb] : values) {
    all.push_back(point_of(static_cast<Time>(all.size()), dram, l1, cb));
    line.add(all.back());
  }
  line.finish();
  const auto highest = [](const std::vector<Point>& points, auto&& figure) {
    Bytes most;
    for (const Point& point : points) most = std::max(most, figure(point));
    return most;
  };
  for (const Kind kind : {Kind::dram, Kind::l1, Kind::cb}) {
    const auto figure = [&](const Point& point) { return point.used[kind]; };
    RC_ASSERT(highest(line.points(), figure) == highest(all, figure));
  }
  RC_ASSERT(highest(line.points(), drawn_l1_of) == highest(all, drawn_l1_of));
  Time last = -1;
  for (const Point& point : line.points()) {
    RC_ASSERT(point.time_ns > last);
    last = point.time_ns;
    RC_ASSERT(point.used == all[static_cast<std::size_t>(last)].used);
  }
  RC_ASSERT(last == end - 1);
  RC_ASSERT(line.points().size() <= (kStretches + 1) * 9);
  RC_ASSERT(line.is_thinned() == (line.points().size() < all.size()));
}

}  // namespace
}  // namespace ttmem::viewer
