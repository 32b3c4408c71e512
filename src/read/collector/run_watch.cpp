// SPDX-License-Identifier: Apache-2.0
#include "read/collector/run_watch.hpp"

#include <time.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "base/clock.hpp"
#include "base/saturating.hpp"
#include "read/collector/untracked_marks.hpp"
#include "segment/reader/byte_source.hpp"
#include "segment/reader/segment_map.hpp"
#include "segment/reader/segment_reader.hpp"

namespace ttmem::collector {
namespace {

using model::Bytes;
using model::LabelTotal;
using model::RunDevice;
using model::RunSummary;
using segment::SegmentImage;
using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{10};
constexpr milliseconds kLongestPause{200};
// Each pause takes at least this many times the duration of the look before the pause, so that
// looks take at most 5 % of the time.
constexpr std::uint64_t kPauseFactor = 20;
constexpr std::size_t kMaxHolders = 10;

// Returns the bytes that the allocation uses on each of its devices.
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
    // A closed device holds nothing. run_process() sets the figures of open devices.
    if (device.peaks[kind]) device.held[kind] = 0;
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

using Groups = std::map<std::pair<Kind, std::string>, LabelTotal>;

std::vector<LabelTotal> largest_first(Groups&& groups) {
  std::vector<LabelTotal> list;
  list.reserve(groups.size());
  for (auto& [key, holder] : groups) list.push_back(std::move(holder));
  std::stable_sort(list.begin(), list.end(), [](const LabelTotal& a, const LabelTotal& b) {
    return a.bytes_on.per_device() > b.bytes_on.per_device();
  });
  return list;
}

void add(const std::vector<LabelTotal>& some, Groups& groups) {
  for (const LabelTotal& one : some) {
    LabelTotal& holder = groups[{one.kind, one.label}];
    holder.kind = one.kind;
    holder.label = one.label;
    holder.allocations += one.allocations;
    holder.bytes_on.add(one.bytes_on);
  }
}

LabelTotal::Chip chip_of(const segment::DeviceImage& device) {
  return device.uid != 0 ? LabelTotal::Chip(device.uid, 0) : LabelTotal::Chip(0, device.id);
}

// Returns true if the process will write nothing more. Call it before the segment is read, so that
// the last change is not missed.
bool has_ended(int segment) {
  const auto map = segment::map_segment(segment::FdSource(segment));
  return !map ||
         map->header.exit_state != static_cast<std::uint32_t>(segment::ExitState::running) ||
         owner_of(segment) == Owner::gone;
}

}  // namespace

std::vector<LabelTotal> holders(const std::vector<SegmentImage>& images) {
  Groups groups;
  for (const SegmentImage& image : images) {
    for (const segment::LiveAllocation& allocation : image.allocations) {
      LabelTotal& holder = groups[{allocation.kind, allocation.label}];
      holder.kind = allocation.kind;
      holder.label = allocation.label;
      ++holder.allocations;
      for (const std::uint32_t device : segment::devices_of(allocation)) {
        holder.bytes_on.add(chip_of(image.devices[device]), used_bytes(allocation));
      }
    }
  }
  return largest_first(std::move(groups));
}

RunWatch::RunWatch(const std::string& directory)
    : found_(directory, RunSegments::Evidence::stays), began_ns_(clock_ns(CLOCK_MONOTONIC)) {
  if (!found_.failure().empty()) {
    summary_.warnings.push_back("there is no summary: " + found_.failure());
  }
}

milliseconds RunWatch::look() {
  if (found_.fd() < 0) return kLongestPause;
  const bool is_new = open_new();
  const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC);
  sample();
  const std::uint64_t spent_ms = (clock_ns(CLOCK_MONOTONIC) - begin) / 1'000'000;
  // The pause is short at first and then grows, so that short runs and the start of long runs are
  // watched closely.
  pause_ = is_new || found_.has_more() ? kFirstPause : std::min(pause_ * 2, kLongestPause);
  pause_ = std::max(pause_, kFirstPause);
  return std::max(pause_, milliseconds(spent_ms * kPauseFactor));
}

bool RunWatch::open_new() {
  const std::size_t most = max_open_segments();
  auto opened = found_.open_new(most - std::min(most, segments_.size()));
  for (UniqueFd& segment : opened) segments_.push_back(std::move(segment));
  return !opened.empty();
}

bool RunWatch::sample() {
  std::vector<SegmentImage> living;
  std::vector<UniqueFd> ended;
  for (UniqueFd& segment : segments_) {
    const bool is_over = has_ended(segment.get());
    auto image = segment::read_segment(segment::FdSource(segment.get()));
    if (is_over) ended.push_back(std::move(segment));
    if (!image) continue;
    // A writer whose file was deleted creates a new file with the same creation time and pid in its
    // header. Only the last such file counts.
    processes_[{image->created_ns, image->pid}] = {run_process(*image), holders({*image})};
    // An ended process is counted alone, because the other processes may have started after its
    // end.
    if (is_over) {
      note_fullest({std::move(*image)});
    } else {
      living.push_back(std::move(*image));
    }
  }
  std::erase_if(segments_, [](const UniqueFd& segment) { return !segment; });
  for (UniqueFd& segment : ended) found_.release(std::move(segment));
  note_fullest(living);
  return !ended.empty();
}

void RunWatch::note_fullest(const std::vector<SegmentImage>& images) {
  const std::uint64_t bytes = used_bytes(images);
  if (bytes <= summary_.fullest_bytes) return;
  summary_.fullest_bytes = bytes;
  summary_.fullest_after_ns = clock_ns(CLOCK_MONOTONIC) - began_ns_;
  summary_.fullest = holders(images);
  if (summary_.fullest.size() > kMaxHolders) summary_.fullest.resize(kMaxHolders);
}

RunSummary RunWatch::finish() {
  if (found_.fd() >= 0) {
    found_.list();
    bool goes_on = true;
    while (goes_on) {
      const bool is_new = open_new();
      goes_on = sample() || is_new;
    }
    found_.clean_up();
  }
  Groups held;
  for (auto& [key, process] : processes_) {
    summary_.processes.push_back(std::move(process.process));
    add(process.held, held);
  }
  summary_.held = largest_first(std::move(held));
  if (summary_.held.size() > kMaxHolders) summary_.held.resize(kMaxHolders);
  summary_.unknown_processes = found_.strangers();
  for (const std::string& sentence : sentences(found_.not_tracked())) {
    summary_.warnings.push_back(sentence + "; " + advice_for_untracked(found_.directory()));
  }
  for (std::string& warning : found_.warnings()) summary_.warnings.push_back(std::move(warning));
  return std::move(summary_);
}

}  // namespace ttmem::collector
