// SPDX-License-Identifier: Apache-2.0
#include "collector/run_watch.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/clock.hpp"
#include "base/parse_number.hpp"
#include "base/read_text.hpp"
#include "base/saturating.hpp"
#include "collector/process_info.hpp"
#include "segment/layout/layout.hpp"
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

// Field 4 of /proc/PID/stat; 0 when there is no such process.
std::int32_t parent_of(std::int32_t pid) {
  const std::string stat = read_text(fmt::format("/proc/{}/stat", pid));
  const std::size_t end_of_name = stat.rfind(')');
  if (end_of_name == std::string::npos) return 0;
  std::string_view rest = std::string_view(stat).substr(end_of_name + 1);
  next_word(rest);  // the state
  return parse_number<std::int32_t>(next_word(rest)).value_or(0);
}

enum class Origin : std::uint8_t { ours, others, unknown };

// Whether this process started that one, or one that did.
Origin origin_of(const SegmentName& name) {
  const std::optional<ProcessFacts> facts = process_facts(name.pid);
  if (!facts || facts->start_time_ticks != name.start_time_ticks) return Origin::unknown;
  const std::int32_t self = ::getpid();
  constexpr int deepest = 1000;
  std::int32_t pid = name.pid;
  for (int i = 0; i < deepest && pid > 1; ++i) {
    pid = parent_of(pid);
    if (pid == self) return Origin::ours;
  }
  return pid == 1 ? Origin::others : Origin::unknown;
}

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

// The files that were kept for this reader.
std::vector<std::string> kept_for(std::int32_t reader, const std::string& directory) {
  const std::string suffix = fmt::format("{}{}", segment::kKeptSuffix, reader);
  std::vector<std::string> names;
  std::error_code failed;
  for (std::filesystem::directory_iterator it(directory, failed), end; !failed && it != end;
       it.increment(failed)) {
    std::string name = it->path().filename().string();
    if (name.starts_with("ttmem.") && name.ends_with(suffix)) names.push_back(std::move(name));
  }
  return names;
}

// Also those that an earlier reader with the same pid left behind when it was killed.
void remove_kept(std::int32_t reader, const Listing& listing) {
  for (const std::string& name : kept_for(reader, listing.directory)) {
    ::unlinkat(listing.fd.get(), name.c_str(), 0);
  }
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

RunWatch::RunWatch(const std::string& directory) : began_ns_(clock_ns(CLOCK_MONOTONIC)) {
  listing_.directory = directory;
  listing_.fd = UniqueFd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  events_ = UniqueFd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  const bool watched =
      listing_.fd && events_ &&
      ::inotify_add_watch(events_.get(), directory.c_str(), IN_CREATE | IN_MOVED_TO) >= 0;
  if (watched) {
    remove_kept(::getpid(), listing_);
    ::setenv("TTMEM_KEEP_FOR", std::to_string(::getpid()).c_str(), 1);
    return;
  }
  summary_.warnings.push_back(
      fmt::format("there is no summary: cannot watch {}: {}", directory, std::strerror(errno)));
  events_.reset();
}

RunWatch::~RunWatch() {
  if (events_) remove_kept(::getpid(), listing_);
}

milliseconds RunWatch::look() {
  if (!events_) return kLongestPause;
  const std::size_t before = segments_.size();
  open_new();
  const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC);
  sample();
  const std::uint64_t spent_ms = (clock_ns(CLOCK_MONOTONIC) - begin) / 1'000'000;
  // Short runs, and the start of long ones, are looked at more often.
  pause_ = segments_.size() > before ? kFirstPause : std::min(pause_ * 2, kLongestPause);
  pause_ = std::max(pause_, kFirstPause);
  return std::max(pause_, milliseconds(spent_ms * kPauseFactor));
}

void RunWatch::open_new() {
  alignas(inotify_event) std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t got = ::read(events_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof(event));
      if (event.len > 0) open_segment(buffer.data() + at + sizeof(event));
      at += sizeof(event) + event.len;
    }
  }
}

void RunWatch::open_segment(const std::string& name) {
  const std::optional<SegmentName> parsed = parse_segment_name(name);
  if (!parsed) return;
  // First: it may be gone a moment later.
  std::optional<OpenFile> file = open_file(listing_, name, denied_, summary_.warnings);
  if (!file) return;
  const Origin origin = origin_of(*parsed);
  if (origin == Origin::unknown) strangers_.push_back(std::move(file->fd));
  if (origin == Origin::ours) segments_.push_back(std::move(file->fd));
}

void RunWatch::open_kept() {
  for (const std::string& name : kept_for(::getpid(), listing_.directory)) {
    std::optional<OpenFile> file = open_file(listing_, name, denied_, summary_.warnings);
    if (file) segments_.push_back(std::move(file->fd));
  }
  for (const UniqueFd& stranger : strangers_) {
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
  if (events_) {
    open_new();
    open_kept();
    sample();
  }
  RunSummary last = summarize(read());
  summary_.processes = std::move(last.processes);
  summary_.held = std::move(last.held);
  if (summary_.held.size() > kMostHolders) summary_.held.resize(kMostHolders);
  denied_.append_warnings(listing_.directory, summary_.warnings);
  return std::move(summary_);
}

}  // namespace ttmem::collector
