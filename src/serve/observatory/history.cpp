// SPDX-License-Identifier: Apache-2.0
#include "serve/observatory/history.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace ttmem::serve {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kMinute = 60;
constexpr std::uint64_t kFineSeconds = 3600;
constexpr std::uint64_t kCoarseSeconds = 86400;

using Values = std::array<model::Bytes, kSeries.size()>;

// Returns one value for each series. `of_kind` is Device::used or Device::peak.
Values values_of(const model::Device& device, model::Bytes (model::Device::*of_kind)(Kind) const,
                 model::Bytes l1) {
  Values values;
  for (std::size_t i = 0; i < kDeviceKinds.size(); ++i) {
    values[i] = (device.*of_kind)(kDeviceKinds[i]);
  }
  values.back() = l1;
  return values;
}

template <typename Points>
void bound(Points& points, std::uint64_t most) {
  while (points.size() > most) points.pop_front();
}

}  // namespace

History::History(std::chrono::seconds limit)
    : limit_seconds_(std::min(static_cast<std::uint64_t>(std::max<std::int64_t>(limit.count(), 0)),
                              kCoarseSeconds)) {}

void History::record(const model::Snapshot& snapshot) {
  if (limit_seconds_ == 0) return;
  for (const model::Device& device : snapshot.devices) {
    // Skips a device without figures, for example a device that only dead processes had open.
    const bool known = std::any_of(kDeviceKinds.begin(), kDeviceKinds.end(),
                                   [&](Kind kind) { return device.used(kind).has_value(); });
    if (!known) continue;
    if (Series* series = series_of(device, snapshot.time_unix_ns)) {
      record(device, snapshot.time_unix_ns, *series);
    }
  }
}

History::Series* History::series_of(const model::Device& device, std::uint64_t now_ns) {
  for (Series& series : devices_) {
    if (name_of(series.device) != name_of(device)) continue;
    series.device = identity_only(device);
    return &series;
  }
  if (devices_.size() == kMaxDevices) {
    const auto oldest = std::min_element(
        devices_.begin(), devices_.end(),
        [](const Series& a, const Series& b) { return a.last_seen_ns < b.last_seen_ns; });
    // If all recorded devices are present now, the history has no room for another device.
    if (oldest->last_seen_ns == now_ns) return nullptr;
    devices_.erase(oldest);
  }
  Series& series = devices_.emplace_back();
  series.device = identity_only(device);
  return &series;
}

// Merges `now` into the point of the current interval, which is the last point or a new point.
void History::put(std::deque<Packed>& points, std::uint64_t interval_ns, const HistoryPoint& now) {
  const bool same =
      !points.empty() && points.back().time_unix_ns / interval_ns == now.time_unix_ns / interval_ns;
  if (!same) points.emplace_back().peak.fill(kUnknown);
  Packed& point = points.back();
  point.time_unix_ns = now.time_unix_ns;
  for (std::size_t i = 0; i < kSeries.size(); ++i) {
    point.bytes[i] = now.bytes[i].value_or(kUnknown);
    if (!now.peak[i]) continue;
    point.peak[i] =
        point.peak[i] == kUnknown ? *now.peak[i] : std::max(point.peak[i], *now.peak[i]);
  }
}

HistoryPoint History::unpack(const Packed& packed) {
  HistoryPoint point;
  point.time_unix_ns = packed.time_unix_ns;
  for (std::size_t i = 0; i < kSeries.size(); ++i) {
    if (packed.bytes[i] != kUnknown) point.bytes[i] = packed.bytes[i];
    if (packed.peak[i] != kUnknown) point.peak[i] = packed.peak[i];
  }
  return point;
}

void History::record(const model::Device& device, std::uint64_t now_ns, Series& series) const {
  const Values used = values_of(device, &model::Device::used, device.l1_used_bytes);
  // The peaks that the processes on the device report.
  const Values reported = values_of(device, &model::Device::peak, device.l1_peak_bytes);
  HistoryPoint now{.time_unix_ns = now_ns, .bytes = used, .peak = used};
  for (std::size_t i = 0; i < reported.size(); ++i) {
    // If a reported peak is higher than at the last pass, it was reached since then and belongs to
    // this point. Nobody knows when another peak was reached, so it is ignored.
    const bool rose = series.known_peak[i] && reported[i] > series.known_peak[i];
    if (rose) now.peak[i] = std::max(now.peak[i], reported[i]);
  }
  series.known_peak = reported;
  series.last_seen_ns = now_ns;
  put(series.seconds, kSecondNs, now);
  put(series.minutes, kMinute * kSecondNs, now);
  bound(series.seconds, std::min(limit_seconds_, kFineSeconds));
  bound(series.minutes, (limit_seconds_ + kMinute - 1) / kMinute);
}

std::optional<HistoryRange> History::range(const model::DeviceName& device, std::uint64_t seconds,
                                           std::uint64_t now_unix_ns) const {
  const Series* found = nullptr;
  for (const Series& series : devices_) {
    if (!has_name(series.device, device)) continue;
    if (found == nullptr || series.last_seen_ns > found->last_seen_ns) found = &series;
  }
  if (found == nullptr) return std::nullopt;
  const bool fine = seconds <= kFineSeconds;
  const std::uint64_t back_ns = std::min(seconds, kCoarseSeconds) * kSecondNs;
  const std::uint64_t since_ns = now_unix_ns > back_ns ? now_unix_ns - back_ns : 0;
  HistoryRange range{.id = found->device.id,
                     .uid = found->device.uid,
                     .interval_seconds = fine ? 1 : kMinute,
                     .points = {}};
  for (const Packed& point : fine ? found->seconds : found->minutes) {
    if (point.time_unix_ns > since_ns) range.points.push_back(unpack(point));
  }
  return range;
}

std::vector<model::Device> History::named(const model::DeviceName& name) const {
  std::uint64_t last_ns = 0;
  for (const Series& series : devices_) {
    if (has_name(series.device, name)) last_ns = std::max(last_ns, series.last_seen_ns);
  }
  std::vector<model::Device> found;
  for (const Series& series : devices_) {
    const bool then = series.last_seen_ns == last_ns;
    if (then && has_name(series.device, name)) found.push_back(series.device);
  }
  return found;
}

std::vector<model::Device> History::devices() const {
  std::vector<model::Device> list;
  for (const Series& series : devices_) list.push_back(series.device);
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return list;
}

}  // namespace ttmem::serve
