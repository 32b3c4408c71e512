// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/kinds.hpp"
#include "read/recording/file/rows.hpp"

namespace ttmem::viewer {

using recording::Time;
using Bytes = std::optional<std::uint64_t>;

// A stretch of a recording, both ends included.
struct TimeRange {
  Time from_ns = 0;
  Time to_ns = 0;
};

// What a chip held at one moment. None: nobody measured it then.
struct Point {
  Time time_ns = 0;
  PerKind<Bytes> used{};
};

// What is drawn of L1, one on top of the other: L1 buffers, L1_SMALL, circular buffers and kernels,
// as far as they are known; none: nobody measured any of them. It finds what is worth keeping, and
// is shown to nobody: it is not Total L1, which is unknown when L1 buffers are.
[[nodiscard]] Bytes drawn_l1_of(const Point& point);

// The points of a chip over a range, so few that they can be drawn.
//
// When they are more than that, time is cut into equal stretches. Of each, the moments are kept at
// which a kind, or what is drawn of L1, was highest, and the first and the last. So no peak is
// lost, every kept point is what was held at one moment, and memory is bounded.
class ThinnedLine {
 public:
  ThinnedLine(const TimeRange& range, std::size_t stretches);

  // In the order of time, within the range.
  void add(const Point& point);
  // Call once, after the last.
  void finish() { end_stretch(); }

  [[nodiscard]] const std::vector<Point>& points() const { return points_; }
  // Whether a point was left out.
  [[nodiscard]] bool is_thinned() const { return is_thinned_; }

 private:
  // Of the stretch: its first and last point, and the highest of each figure.
  static constexpr std::size_t kFirst = 0;
  static constexpr std::size_t kLast = 1;
  static constexpr std::size_t kHighest = 2;
  static constexpr std::size_t kFigures = kDeviceKinds.size() + 1;

  void begin_to_thin();
  void add_to_stretch(const Point& point);
  void end_stretch();

  TimeRange range_;
  std::size_t stretches_;  // and so many points are kept as they are
  bool keeps_all_ = true;
  std::size_t stretch_ = 0;
  std::size_t seen_ = 0;  // in this stretch
  std::array<Point, kHighest + kFigures> kept_{};
  std::vector<Point> points_;
  bool is_thinned_ = false;
};

}  // namespace ttmem::viewer
