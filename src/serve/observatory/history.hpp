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

// One second, or one minute.
struct HistoryPoint {
  std::uint64_t time_unix_ns = 0;                  // when it ended
  std::array<model::Bytes, kSeries.size()> bytes;  // at that moment; none: unknown
  std::array<model::Bytes, kSeries.size()> peak;   // the most within it
};

// A device's history as range() returns it, the oldest first. Where there is no point, the device
// was not there, or there was no pass.
struct HistoryRange {
  std::uint32_t id = 0;
  std::optional<std::uint64_t> uid;
  std::uint64_t interval_seconds = 1;
  std::vector<HistoryPoint> points;
};

// Per device: an hour by the second and a day by the minute. A peak between two passes shows in the
// point after it, when the processes on the device report one. No peak is lost when seconds become
// minutes.
//
// At most 0.6 MiB for a device, and kMaxDevices devices: the one that was seen longest ago goes
// first. One thread at a time.
class History {
 public:
  static constexpr std::size_t kMaxDevices = 64;

  // Records no more than `limit`; zero records nothing.
  explicit History(std::chrono::seconds limit = std::chrono::hours(24));

  // Once a second. A second that is recorded twice is one point.
  void record(const model::Snapshot& snapshot);

  // The last `seconds` before `now`, by the second as far as recorded, else by the minute. None
  // when there never was such a device. Of several with that name, the one seen last.
  [[nodiscard]] std::optional<HistoryRange> range(const model::DeviceName& device,
                                                  std::uint64_t seconds,
                                                  std::uint64_t now_unix_ns) const;

  // The devices with that name that were there at the same time, when range() would find one of
  // them: more than one, if a number names several chips.
  [[nodiscard]] std::vector<model::Device> named(const model::DeviceName& name) const;
  // All that range() knows.
  [[nodiscard]] std::vector<model::Device> devices() const;

 private:
  // A HistoryPoint in half the memory: kUnknown stands for none.
  struct Packed {
    std::uint64_t time_unix_ns = 0;
    std::array<std::uint64_t, kSeries.size()> bytes;
    std::array<std::uint64_t, kSeries.size()> peak;
  };
  static constexpr std::uint64_t kUnknown = UINT64_MAX;

  struct Series {
    model::Device device;  // only what it is: uid, arch and numbers
    std::uint64_t last_seen_ns = 0;
    std::array<model::Bytes, kSeries.size()> known_peak;  // as the processes report it
    std::deque<Packed> seconds;
    std::deque<Packed> minutes;  // the last one is not over yet
  };

  Series* series_of(const model::Device& device, std::uint64_t now_ns);
  void record(const model::Device& device, std::uint64_t now_ns, Series& series) const;
  static void put(std::deque<Packed>& points, std::uint64_t interval_ns, const HistoryPoint& now);
  [[nodiscard]] static HistoryPoint unpack(const Packed& packed);

  std::uint64_t limit_seconds_;
  std::vector<Series> devices_;
};

}  // namespace ttmem::serve
