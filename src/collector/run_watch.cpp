// SPDX-License-Identifier: Apache-2.0
#include "collector/run_watch.hpp"

#include <time.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "base/clock.hpp"
#include "base/saturating.hpp"
#include "segment/reader/byte_source.hpp"
#include "segment/reader/segment_reader.hpp"

namespace ttmem::collector {
namespace {

using model::Bytes;
using model::Holder;
using model::RunDevice;
using model::RunSummary;
using segment::SegmentImage;
using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{10};
constexpr milliseconds kLongestPause{200};
// Of the time at most this part is spent on looking.
constexpr std::uint64_t kPauseFactor = 20;
constexpr std::size_t kMostHolders = 10;

// On each of its devices.
std::uint64_t used_bytes(const segment::LiveAllocation& allocation) {
  return allocation.bytes_per_bank && allocation.banks
             ? saturating_mul(*allocation.bytes_per_bank, *allocation.banks)
             : allocation.bytes;
}

std::uint64_t used_bytes(const std::vector<SegmentImage>& images) {
  std::uint64_t sum = 0;
  for (const SegmentImage& image : images) {
    for (const segment::DeviceImage& device : image.devices) {
      for (const Kind kind : kDeviceKinds) {
        sum = saturating_add(sum, device.kinds[kind].used_bytes);
      }
    }
  }
  return sum;
}

RunDevice run_device(const segment::DevicePeaks& peaks) {
  RunDevice device;
  device.id = peaks.id;
  if (peaks.kinds[Kind::l1]) device.l1_peak = peaks.l1_total_bytes;
  device.peaks = peaks.kinds;
  for (const Kind kind : kDeviceKinds) {
    if (device.peaks[kind]) device.held[kind] = 0;  // until it shows that the device is open
  }
  device.left = peaks.left_at_close;
  device.left_bytes = peaks.left_at_close_bytes;
  return device;
}

model::RunProcess run_process(const SegmentImage& image) {
  model::RunProcess process;
  process.pid = image.pid;
  process.command = image.command.empty() ? image.name : image.command;
  for (const segment::DevicePeaks& peaks : image.peaks) {
    process.devices.push_back(run_device(peaks));
  }
  for (const segment::DeviceImage& open : image.devices) {
    for (RunDevice& device : process.devices) {
      if (device.id != open.id) continue;
      for (const Kind kind : kDeviceKinds) {
        device.held[kind] = open.kinds[kind].get(&KindFigures::used_bytes);
      }
    }
  }
  return process;
}

}  // namespace

std::vector<Holder> holders(const std::vector<SegmentImage>& images) {
  std::map<std::pair<Kind, std::string>, Holder> groups;
  for (const SegmentImage& image : images) {
    for (const segment::LiveAllocation& allocation : image.allocations) {
      Holder& holder = groups[{allocation.kind, allocation.label}];
      holder.kind = allocation.kind;
      holder.label = allocation.label;
      ++holder.allocations;
      const std::uint64_t bytes =
          saturating_mul(used_bytes(allocation), segment::devices_of(allocation).size());
      holder.bytes = saturating_add(holder.bytes, bytes);
    }
  }
  std::vector<Holder> list;
  list.reserve(groups.size());
  for (auto& [key, holder] : groups) list.push_back(std::move(holder));
  std::stable_sort(list.begin(), list.end(),
                   [](const Holder& a, const Holder& b) { return a.bytes > b.bytes; });
  return list;
}

RunSummary summarize(const std::vector<SegmentImage>& images) {
  RunSummary summary;
  for (const SegmentImage& image : images) summary.processes.push_back(run_process(image));
  summary.held = holders(images);
  return summary;
}

RunWatch::RunWatch(const std::string& directory)
    : found_(directory), began_ns_(clock_ns(CLOCK_MONOTONIC)) {
  if (!found_.failure().empty()) {
    summary_.warnings.push_back("there is no summary: " + found_.failure());
  }
}

milliseconds RunWatch::look() {
  if (found_.fd() < 0) return kLongestPause;
  const bool is_new = open(found_.open_new());
  const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC);
  sample();
  const std::uint64_t spent_ms = (clock_ns(CLOCK_MONOTONIC) - begin) / 1'000'000;
  // Short runs, and the start of long ones, are looked at more often.
  pause_ = is_new ? kFirstPause : std::min(pause_ * 2, kLongestPause);
  pause_ = std::max(pause_, kFirstPause);
  return std::max(pause_, milliseconds(spent_ms * kPauseFactor));
}

bool RunWatch::open(std::vector<UniqueFd> segments) {
  for (UniqueFd& segment : segments) segments_.push_back(std::move(segment));
  return !segments.empty();
}

void RunWatch::count_strangers() {
  for (const UniqueFd& stranger : found_.strangers()) {
    const auto image = segment::read_segment(segment::FdSource(stranger.get()));
    // One of ours that ended well is among the kept ones.
    if (image && !image->clean_exit) ++summary_.unknown_processes;
  }
}

std::vector<SegmentImage> RunWatch::read() const {
  // A writer whose file was deleted makes a new one: the last that says the same of itself counts.
  std::map<std::tuple<std::uint64_t, std::int32_t>, SegmentImage> images;
  for (const UniqueFd& segment : segments_) {
    auto image = segment::read_segment(segment::FdSource(segment.get()));
    if (!image) continue;  // its process ended before it had made one
    const auto key = std::tuple(image->created_ns, image->pid);
    images.insert_or_assign(key, std::move(*image));
  }
  std::vector<SegmentImage> list;
  list.reserve(images.size());
  for (auto& [key, image] : images) list.push_back(std::move(image));
  return list;
}

void RunWatch::sample() {
  const std::vector<SegmentImage> images = read();
  const std::uint64_t bytes = used_bytes(images);
  if (bytes <= summary_.fullest_bytes) return;
  summary_.fullest_bytes = bytes;
  summary_.fullest_after_ns = clock_ns(CLOCK_MONOTONIC) - began_ns_;
  summary_.fullest = holders(images);
  if (summary_.fullest.size() > kMostHolders) summary_.fullest.resize(kMostHolders);
}

RunSummary RunWatch::finish() {
  if (found_.fd() >= 0) {
    open(found_.open_new());
    open(found_.open_kept());
    count_strangers();
    sample();
  }
  RunSummary last = summarize(read());
  summary_.processes = std::move(last.processes);
  summary_.held = std::move(last.held);
  if (summary_.held.size() > kMostHolders) summary_.held.resize(kMostHolders);
  for (std::string& warning : found_.warnings()) summary_.warnings.push_back(std::move(warning));
  return std::move(summary_);
}

}  // namespace ttmem::collector
