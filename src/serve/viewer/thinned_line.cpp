// SPDX-License-Identifier: Apache-2.0
#include "serve/viewer/thinned_line.hpp"

#include <algorithm>
#include <utility>

namespace ttmem::viewer {
namespace {

// Returns the bytes of kDeviceKinds[figure]. Returns the drawn L1 if `figure` is one past the last
// kind.
Bytes figure_of(const Point& point, std::size_t figure) {
  return figure < kDeviceKinds.size() ? point.used[kDeviceKinds[figure]] : drawn_l1_of(point);
}

}  // namespace

Bytes drawn_l1_of(const Point& point) {
  Bytes sum;
  for (const Kind kind : kDeviceKinds) {
    if (is_in_l1(kind) && point.used[kind]) sum = sum.value_or(0) + *point.used[kind];
  }
  return sum;
}

ThinnedLine::ThinnedLine(const TimeRange& range, std::size_t stretches)
    : range_(range), stretches_(stretches) {}

void ThinnedLine::add(const Point& point) {
  if (keeps_all_ && points_.size() < stretches_) return points_.push_back(point);
  if (keeps_all_) begin_to_thin();
  add_to_stretch(point);
}

void ThinnedLine::begin_to_thin() {
  keeps_all_ = false;
  for (const Point& point : std::exchange(points_, {})) add_to_stretch(point);
}

void ThinnedLine::add_to_stretch(const Point& point) {
  const auto part = static_cast<double>(point.time_ns - range_.from_ns) /
                    static_cast<double>(std::max<Time>(range_.to_ns - range_.from_ns, 1));
  const auto stretch = static_cast<std::size_t>(part * static_cast<double>(stretches_));
  if (stretch != stretch_) end_stretch();
  stretch_ = stretch;
  if (seen_++ == 0) return kept_.fill(point);
  kept_[kLast] = point;
  for (std::size_t figure = 0; figure < kFigures; ++figure) {
    Point& highest = kept_[kHighest + figure];
    if (figure_of(point, figure) > figure_of(highest, figure)) highest = point;
  }
}

void ThinnedLine::end_stretch() {
  if (seen_ == 0) return;
  const auto by_time = [](const Point& a, const Point& b) { return a.time_ns < b.time_ns; };
  const auto same_time = [](const Point& a, const Point& b) { return a.time_ns == b.time_ns; };
  std::sort(kept_.begin(), kept_.end(), by_time);
  const auto end = std::unique(kept_.begin(), kept_.end(), same_time);
  points_.insert(points_.end(), kept_.begin(), end);
  if (static_cast<std::size_t>(end - kept_.begin()) < seen_) is_thinned_ = true;
  seen_ = 0;
}

}  // namespace ttmem::viewer
