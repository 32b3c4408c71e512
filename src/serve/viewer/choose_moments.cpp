// SPDX-License-Identifier: Apache-2.0
#include "serve/viewer/choose_moments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "analyse/report/select.hpp"
#include "base/safe_text.hpp"
#include "serve/viewer/device_key.hpp"
#include "text/format.hpp"

namespace ttmem::viewer {
namespace {

using report::DeviceReport;
using report::Extreme;

constexpr std::size_t kMaxFailures = 20;  // only the first failures of the recording are chosen

// The chosen times, with the reasons to show them.
class Wanted {
 public:
  Wanted(const TimeRange& range, const report::Report& report) : range_(range), report_(report) {}

  void add(Time time, std::string why) {
    if (add(time)) why_[clamped(time)].insert(std::move(why));
  }
  // Adds a time without a reason. Returns false if the time is outside the range.
  bool add(Time time) {
    const Time at = clamped(time);
    if (at < range_.from_ns || at > range_.to_ns) return false;
    times_.insert(at);
    return true;
  }
  // Adds a time with a reason. If several devices have the same reason at that time, they share one
  // text.
  void add(Time time, const std::string& what, const DeviceReport& device) {
    if (add(time)) of_devices_[{clamped(time), what}].push_back(&device);
  }

  [[nodiscard]] bool has(Time time) const { return times_.count(time) != 0; }

  [[nodiscard]] std::vector<ChosenMoment> take() {
    for (const auto& [what, devices] : of_devices_) {
      why_[what.first].insert(fmt::format("{} of {} {}", what.second,
                                          devices.size() == 1 ? "device" : "devices",
                                          names_of(devices)));
    }
    std::vector<ChosenMoment> moments;
    for (const Time time : times_) {
      const std::set<std::string>& why = why_[time];
      moments.push_back({time, {why.begin(), why.end()}});
    }
    return moments;
  }

 private:
  // Returns the time, or 0 (the begin of the recording) for a time before the recording.
  static Time clamped(Time time) { return std::max<Time>(time, 0); }

  // Returns the numbers of the devices, such as "0-3", or their keys if two devices of the
  // recording have the same number.
  [[nodiscard]] std::string names_of(const std::vector<const DeviceReport*>& devices) const {
    std::set<std::uint32_t> numbers;
    for (const DeviceReport& device : report_.devices) numbers.insert(device.id);
    std::vector<std::uint32_t> ids;
    std::vector<std::string> keys;
    for (const DeviceReport* device : devices) {
      ids.push_back(device->id);
      keys.push_back(key_of(*device));
    }
    return numbers.size() == report_.devices.size() ? text::format_ids(ids)
                                                    : fmt::format("{}", fmt::join(keys, ", "));
  }

  TimeRange range_;
  const report::Report& report_;
  std::set<Time> times_;
  std::map<Time, std::set<std::string>> why_;
  std::map<std::pair<Time, std::string>, std::vector<const DeviceReport*>> of_devices_;
};

void add_extremes(const DeviceReport& device, Wanted& wanted) {
  const auto add = [&](const std::optional<Extreme>& extreme, const char* what) {
    if (extreme) wanted.add(extreme->time_ns, what, device);
  };
  const auto add_peak = [&](const std::optional<Extreme>& peak, const char* what) {
    if (peak && peak->bytes > 0) add(peak, what);
  };
  add_peak(device.l1_peak, "L1 peak");
  add_peak(device.peak[Kind::dram], "DRAM peak");
  add_peak(device.peak[Kind::l1_small], "L1_SMALL peak");
  add_peak(device.peak[Kind::cb], "CB peak");
  add_peak(device.peak[Kind::trace], "trace peak");
  add(device.least_headroom, "least headroom");
  add(device.least_largest_free[Kind::dram], "smallest free block of DRAM");
  add(device.least_largest_free[Kind::l1], "smallest free block of L1");
}

void add_failures(const recording::Tables& tables, Wanted& wanted) {
  const std::size_t count = std::min(tables.failures.size(), kMaxFailures);
  for (std::size_t i = 0; i < count; ++i) wanted.add(tables.failures[i].time_ns, "failure");
}

// Adds the marks within the range. If the range has 2 * `most` marks or more, adds only every n-th
// mark, so that fewer than 2 * `most` marks are added.
void add_marks(const recording::Tables& tables, const TimeRange& range, std::size_t most,
               Wanted& wanted) {
  if (most == 0) return;
  std::vector<const recording::Mark*> marks;
  for (const recording::Mark& mark : tables.marks) {
    if (mark.time_ns >= range.from_ns && mark.time_ns <= range.to_ns) marks.push_back(&mark);
  }
  const std::size_t step = std::max<std::size_t>(marks.size() / most, 1);
  for (std::size_t i = 0; i < marks.size(); i += step) {
    wanted.add(marks[i]->time_ns, fmt::format("mark {}", safe_text(marks[i]->name)));
  }
}

bool is_known(const Point& point) {
  return std::any_of(kDeviceKinds.begin(), kDeviceKinds.end(),
                     [&](Kind kind) { return point.used[kind].has_value(); });
}

// Adds the first point, and the points with the highest L1 and the highest DRAM. If the chip was
// closed, adds the last point before the close; otherwise adds the last point.
void add_line(const std::vector<Point>& points, const DeviceReport& device, Wanted& wanted) {
  const auto by_l1 = [](const Point& a, const Point& b) { return drawn_l1_of(a) < drawn_l1_of(b); };
  const auto by_dram = [](const Point& a, const Point& b) {
    return a.used[Kind::dram] < b.used[Kind::dram];
  };
  if (points.empty()) return;
  wanted.add(std::max_element(points.begin(), points.end(), by_l1)->time_ns);
  wanted.add(std::max_element(points.begin(), points.end(), by_dram)->time_ns);
  wanted.add(points.front().time_ns);
  for (std::size_t i = points.size() - 1; i > 0; --i) {
    if (is_known(points[i]) || !is_known(points[i - 1])) continue;
    return wanted.add(points[i - 1].time_ns, "last before the close", device);
  }
  wanted.add(points.back().time_ns);
}

// Returns the highest drawn L1 of all lines for each time at which a line has a point.
std::map<Time, std::uint64_t> heights_of(const Lines& lines) {
  std::map<Time, std::uint64_t> heights;
  for (const std::vector<Point>& points : lines.of_chip) {
    for (const Point& point : points) {
      std::uint64_t& height = heights[point.time_ns];
      height = std::max(height, drawn_l1_of(point).value_or(0));
    }
  }
  return heights;
}

// Adds the time with the highest L1 in each slice of time. Returns true if the times of all points
// are chosen.
bool add_others(const Lines& lines, const TimeRange& range, std::size_t slices, Wanted& wanted) {
  const std::map<Time, std::uint64_t> heights = heights_of(lines);
  if (heights.size() <= slices) {
    for (const auto& [time, height] : heights) wanted.add(time);
    return true;
  }
  const double length = static_cast<double>(std::max<Time>(range.to_ns - range.from_ns, 1));
  std::map<std::size_t, std::pair<std::uint64_t, Time>> highest;  // by slice
  for (const auto& [time, height] : heights) {
    const double part = static_cast<double>(time - range.from_ns) / length;
    const auto slice = static_cast<std::size_t>(part * static_cast<double>(slices));
    const auto [at, fresh] = highest.try_emplace(slice, height, time);
    if (!fresh && height > at->second.first) at->second = {height, time};
  }
  if (slices > 0) {
    for (const auto& [slice, point] : highest) wanted.add(point.second);
  }
  return std::all_of(heights.begin(), heights.end(),
                     [&](const auto& one) { return wanted.has(one.first); });
}

}  // namespace

Moments choose_moments(const recording::Tables& tables, const report::Report& report,
                       const Lines& lines, const TimeRange& range, const Room& room) {
  Wanted wanted(range, report);
  const DeviceReport* const fullest = report::fullest(report);
  for (std::size_t chip = 0; chip < lines.of_chip.size(); ++chip) {
    const DeviceReport& device = report.devices[chip];
    if (!room.every_device && &device != fullest) continue;
    add_extremes(device, wanted);
    add_line(lines.of_chip[chip], device, wanted);
  }
  add_failures(tables, wanted);
  add_marks(tables, range, room.marks, wanted);
  const bool all = add_others(lines, range, room.others, wanted);
  return {wanted.take(), lines.is_thinned || !all};
}

}  // namespace ttmem::viewer
