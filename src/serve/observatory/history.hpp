// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "read/model/device_name.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::serve {

// The figures of a device that are recorded over time, with their names in JSON.
inline constexpr auto kSeries = [] {
  std::array<std::string_view, kDeviceKinds.size() + 1> names{};
  for (std::size_t i = 0; i < kDeviceKinds.size(); ++i) names[i] = key_of(kDeviceKinds[i]);
  names.back() = "l1_used";
  return names;
}();

// The figures of one second or one minute.
struct HistoryPoint {
  std::uint64_t time_unix_ns = 0;  // time of the last snapshot in the interval
  // Values of the last snapshot in the interval. nullopt: unknown.
  std::array<model::Bytes, kSeries.size()> bytes;
  std::array<model::Bytes, kSeries.size()> peak;  // highest values in the interval
};

// A device's history, the oldest point first. A point is missing if the device was absent or there
// was no pass.
struct HistoryRange {
  std::uint32_t id = 0;
  std::optional<std::uint64_t> uid;
  std::uint64_t interval_seconds = 1;
  std::vector<HistoryPoint> points;
};

// The history of each device, with a point per second for an hour and a point per minute for a day.
// A peak between two passes appears in the point after the peak, if the processes on the device
// report peaks. Merging seconds into minutes loses no peak.
//
// Takes at most 0.6 MiB for a device. Stores at most kMaxDevices devices. A further device replaces
// the device that was seen longest ago, unless all stored devices are still present. For one thread
// at a time.
class History {
 public:
  static constexpr std::size_t kMaxDevices = 64;

  // `limit` is the maximum age of a point. If `limit` is zero, no points are kept.
  explicit History(std::chrono::seconds limit = std::chrono::hours(24));

  // Records a snapshot; to be called once a second. Two snapshots of one second become one point.
  void record(const model::Snapshot& snapshot);

  // Returns the points of the last `seconds` seconds before `now_unix_ns`. Returns a point for each
  // second if `seconds` is at most an hour, otherwise a point for each minute. Returns nullopt if
  // no device with this name was ever seen. If several devices have the name, returns the points of
  // the device that was seen last.
  [[nodiscard]] std::optional<HistoryRange> range(const model::DeviceName& device,
                                                  std::uint64_t seconds,
                                                  std::uint64_t now_unix_ns) const;

  // Looks for the last snapshot that had a device with this name, and returns all devices with this
  // name in that snapshot. They are several if the name is a number that several chips share. One
  // of them is the device whose points range() returns.
  [[nodiscard]] std::vector<model::Device> named(const model::DeviceName& name) const;
  // Returns all devices that have a history.
  [[nodiscard]] std::vector<model::Device> devices() const;

 private:
  // A HistoryPoint in half the memory: kUnknown replaces nullopt.
  struct Packed {
    std::uint64_t time_unix_ns = 0;
    std::array<std::uint64_t, kSeries.size()> bytes;
    std::array<std::uint64_t, kSeries.size()> peak;
  };
  static constexpr std::uint64_t kUnknown = UINT64_MAX;

  struct Series {
    model::Device device;  // only the identity: uid, arch and numbers
    std::uint64_t last_seen_ns = 0;
    std::array<model::Bytes, kSeries.size()> known_peak;  // last peak that the processes reported
    std::deque<Packed> seconds;
    std::deque<Packed> minutes;  // the last minute may be incomplete
  };

  Series* series_of(const model::Device& device, std::uint64_t now_ns);
  void record(const model::Device& device, std::uint64_t now_ns, Series& series) const;
  static void put(std::deque<Packed>& points, std::uint64_t interval_ns, const HistoryPoint& now);
  [[nodiscard]] static HistoryPoint unpack(const Packed& packed);

  std::uint64_t limit_seconds_;
  std::vector<Series> devices_;
};

}  // namespace ttmem::serve
