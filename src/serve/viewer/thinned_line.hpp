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

// A part of a recording, including both ends.
struct TimeRange {
  Time from_ns = 0;
  Time to_ns = 0;
};

// The bytes that a chip held at one moment. nullopt: no process reported the kind.
struct Point {
  Time time_ns = 0;
  PerKind<Bytes> used{};
};

// Returns the sum of L1 buffers, L1_SMALL, circular buffers and kernels, as far as they are known;
// nullopt if none is known. The sum only decides which points are kept, and is never shown as a
// number. Unlike Total L1, the sum is known even if L1 buffers are unknown.
[[nodiscard]] Bytes drawn_l1_of(const Point& point);

// The points of a chip over a range, few enough to be drawn.
//
// If there are too many points, time is divided into equal stretches. Each stretch keeps its first
// and last point, and the points at which a kind or the drawn L1 was highest. No peak is lost,
// every kept point has the real values of one moment, and memory is bounded.
class ThinnedLine {
 public:
  ThinnedLine(const TimeRange& range, std::size_t stretches);

  // Points must be in order of time, within the range.
  void add(const Point& point);
  // To be called once, after the last point.
  void finish() { end_stretch(); }

  [[nodiscard]] const std::vector<Point>& points() const { return points_; }
  // Returns true if a point was omitted.
  [[nodiscard]] bool is_thinned() const { return is_thinned_; }

 private:
  // Indices of the points kept in a stretch: the first, the last, and the highest of each figure.
  static constexpr std::size_t kFirst = 0;
  static constexpr std::size_t kLast = 1;
  static constexpr std::size_t kHighest = 2;
  static constexpr std::size_t kFigures = kDeviceKinds.size() + 1;

  void begin_to_thin();
  void add_to_stretch(const Point& point);
  void end_stretch();

  TimeRange range_;
  // Number of stretches; all points are kept if there are at most this many
  std::size_t stretches_;
  bool keeps_all_ = true;
  std::size_t stretch_ = 0;
  std::size_t seen_ = 0;  // points seen in this stretch
  std::array<Point, kHighest + kFigures> kept_{};
  std::vector<Point> points_;
  bool is_thinned_ = false;
};

}  // namespace ttmem::viewer
