// SPDX-License-Identifier: Apache-2.0
#include "read/recording/playback/playback.hpp"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/safe_text.hpp"
#include "read/collector/build_snapshot.hpp"
#include "read/collector/core_geometry.hpp"
#include "read/recording/playback/device_playback.hpp"
#include "track/ledger/footprint.hpp"

namespace ttmem::recording {
namespace {

constexpr std::uint32_t kNotThere = std::numeric_limits<std::uint32_t>::max();

// Converts a time of a recording to a time of a segment, which is unsigned.
std::uint64_t clock_of(Time time) {
  return (std::uint64_t{1} << 62) + static_cast<std::uint64_t>(time);
}

segment::LiveAllocation image_of(const Tables& tables, const RecordedAllocation& allocation) {
  const RecordedRequest& request = tables.request(allocation.request);
  segment::LiveAllocation image;
  image.kind = request.kind;
  image.role = request.role;
  image.when_ns = clock_of(allocation.begin_ns);
  image.id = allocation.number;
  image.address = allocation.address;
  image.bytes = request.bytes;
  if (request.has_bytes_per_bank) image.bytes_per_bank = request.bytes_per_bank;
  if (request.banks != 0) image.banks = request.banks;
  if (request.cores != 0) image.cores = tables.core_set(request.cores);
  image.own_banks = request.own_banks;
  image.estimate = request.estimate;
  image.label = safe_text(tables.text(request.label));
  image.scope = safe_text(tables.scope(request.scope));
  return image;
}

segment::LiveFootprint image_of(const ledger::Footprint& footprint) {
  segment::LiveFootprint image;
  image.reserve(footprint.cbs.size());
  for (const ledger::Cb& cb : footprint.cbs) {
    image.push_back({cb.range.begin, cb.range.length(), cb.global, cb.cores});
  }
  return image;
}

// Builds the segments that the processes would have had at a moment.
class Images {
 public:
  Images(const Tables& tables, std::vector<DevicePlayback>& devices)
      : tables_(tables), devices_(devices), of_device_(devices.size(), kNotThere) {}

  void add(const RecordedProcess& process) {
    collector::SegmentEvidence& segment = segments_[process.id];
    segment.image.pid = process.pid;
    segment.image.name = safe_text(process.name);
    segment.image.command = safe_text(process.command);
    segment.user = safe_text(process.user);
    segment.origin.name = std::to_string(process.id);
    segment.origin.file_number = static_cast<ino_t>(process.id);
  }

  // Adds a device. Its process must have been added before.
  void add(const RecordedDevice& device) {
    segment::SegmentImage& image = segments_[device.process].image;
    of_device_[index(device.id)] = static_cast<std::uint32_t>(image.devices.size());
    image.devices.push_back(devices_[index(device.id)].image());
    image.devices.back().opened_ns = clock_of(device.begin_ns);
  }

  // Adds an allocation that lies on the devices of `set`, which all belong to one process. Does
  // nothing if none of these devices was added.
  void add(const RecordedAllocation& allocation, const std::vector<RowId>& set) {
    std::vector<std::uint32_t> on;
    for (const RowId device : set) {
      if (of_device_[index(device)] != kNotThere) on.push_back(of_device_[index(device)]);
    }
    if (on.empty()) return;
    segment::LiveAllocation image = image_of(tables_, allocation);
    image.device = on.front();
    if (on.size() > 1) image.devices = std::move(on);
    segments_[tables_.device(set.front()).process].image.allocations.push_back(std::move(image));
  }

  void add(const RecordedProgram& program) {
    const std::uint32_t device = of_device_[index(program.device)];
    if (device == kNotThere) return;
    const ledger::Placement* placement =
        devices_[index(program.device)].programs().ledger().find(program.number);
    if (placement == nullptr || placement->slot != static_cast<std::uint32_t>(program.id)) return;
    segment::LiveProgram image;
    image.device = device;
    const RowId process = tables_.device(program.device).process;
    image.footprint = number_of(process, *placement->footprint.get());
    image.resident_cores = placement->resident_cores;
    image.when_ns = clock_of(program.begin_ns);
    image.program = program.number;
    image.name = safe_text(tables_.text(program.name));
    image.scope = safe_text(tables_.scope(program.scope));
    segments_[process].image.programs.push_back(std::move(image));
  }

  [[nodiscard]] std::vector<collector::SegmentEvidence> take() {
    std::vector<collector::SegmentEvidence> all;
    for (auto& [process, segment] : segments_) {
      segment.geometry = collector::geometry_of(segment.image);
      all.push_back(std::move(segment));
    }
    return all;
  }

 private:
  static std::size_t index(RowId id) { return static_cast<std::size_t>(id - 1); }

  std::uint32_t number_of(RowId process, const ledger::Footprint& footprint) {
    std::vector<segment::LiveFootprint>& all = segments_[process].image.footprints;
    const auto [known, fresh] =
        footprints_.try_emplace({process, &footprint}, static_cast<std::uint32_t>(all.size()));
    if (fresh) all.push_back(image_of(footprint));
    return known->second;
  }

  const Tables& tables_;
  std::vector<DevicePlayback>& devices_;
  std::vector<std::uint32_t> of_device_;  // by device: its index in the image of its process
  std::map<RowId, collector::SegmentEvidence> segments_;  // by process
  std::map<std::pair<RowId, const ledger::Footprint*>, std::uint32_t> footprints_;
};

template <typename Row>
std::vector<const Row*> in_order(const boost::unordered_flat_map<RowId, Row>& rows) {
  std::vector<const Row*> sorted;
  sorted.reserve(rows.size());
  for (const auto& [id, row] : rows) sorted.push_back(&row);
  std::sort(sorted.begin(), sorted.end(), [](const Row* a, const Row* b) { return a->id < b->id; });
  return sorted;
}

}  // namespace

// The state at one moment, and the position in the story.
class Playback::State {
 public:
  State(const Reader& reader, AfterClose after_close)
      : tables_(reader.tables()), after_close_(after_close), story_(reader.story()) {
    devices_.reserve(tables_.devices.size());
    for (const RecordedDevice& device : tables_.devices)
      devices_.emplace_back(tables_, device, footprints_);
  }

  [[nodiscard]] Time time() const { return time_; }

  Result<void> advance_to(Time time) {
    while (const Event* event = story_->next()) {
      if (event->time_ns > time) break;
      if (event->time_ns != settled_at_) settle(event->time_ns);
      apply(*event);
      story_->advance();
    }
    if (time != settled_at_) settle(time);
    time_ = time;
    if (const auto failed = story_->failed()) return *failed;
    return {};
  }

  [[nodiscard]] model::Snapshot snapshot() {
    collector::Evidence evidence;
    if (const std::uint64_t start = tables_.run.started_unix_ns; start != 0) {
      evidence.time_unix_ns = start + static_cast<std::uint64_t>(time_);
    }
    evidence.monotonic_ns = clock_of(time_);
    evidence.host = safe_text(tables_.run.host);
    evidence.listed = true;
    Images images(tables_, devices_);
    for (const RecordedDevice& device : tables_.devices) {
      if (devices_[index(device.id)].is_open()) images.add(tables_.process(device.process));
    }
    for (const RecordedDevice& device : tables_.devices) {
      if (devices_[index(device.id)].is_open()) images.add(device);
    }
    for (const RecordedAllocation* allocation : in_order(allocations_)) {
      images.add(*allocation, tables_.device_set(allocation->devices));
    }
    for (const Left& left : left_) images.add(left.allocation, left.devices);
    for (const RecordedProgram* program : in_order(programs_)) images.add(*program);
    evidence.segments = images.take();
    model::Snapshot snapshot = collector::build_snapshot(evidence);
    // The counts of anomalies are unknown, because a recording does not contain them.
    for (model::Device& device : snapshot.devices) device.anomalies.reset();
    return snapshot;
  }

 private:
  // An allocation, and the devices that were closed while the allocation was live.
  struct Left {
    RecordedAllocation allocation;
    std::vector<RowId> devices;
  };

  static std::size_t index(RowId id) { return static_cast<std::size_t>(id - 1); }

  void settle(Time now) {
    for (const RowId device : changing_) devices_[index(device)].settle();
    changing_.clear();
    settled_at_ = now;
  }

  [[nodiscard]] bool is_kept(Ending ending) const {
    return after_close_ == AfterClose::kept && was_left(ending);
  }

  void apply(const Event& event) {
    switch (event.type) {
      case Event::Type::allocate:
        return allocate(*event.allocation);
      case Event::Type::free:
        return free(*event.allocation, event.rest);
      case Event::Type::place:
        programs_.insert_or_assign(event.program->id, *event.program);
        return devices_[index(event.program->device)].place(*event.program);
      case Event::Type::remove:
        return remove(*event.program);
      case Event::Type::dispatch:
        for (const RowId device : tables_.device_set(event.dispatch->devices)) {
          devices_[index(device)].dispatch(tables_.launch(event.dispatch->launch));
        }
        return;
      case Event::Type::device_open:
        return open(*event.device);
      case Event::Type::device_close:
        if (after_close_ == AfterClose::gone) devices_[index(event.device->id)].close();
        return;
      case Event::Type::process_end:
        return end(*event.process);
      default:
        return;
    }
  }

  void allocate(const RecordedAllocation& allocation) {
    allocations_.insert_or_assign(allocation.id, allocation);
    for (const RowId device : tables_.device_set(allocation.devices)) {
      devices_[index(device)].add(tables_.request(allocation.request));
    }
  }

  // Ends an allocation on its devices in `allocation`. The devices of the set `rest` keep it.
  void free(const RecordedAllocation& allocation, RowId rest) {
    if (rest == 0) {
      allocations_.erase(allocation.id);
    } else {
      allocations_[allocation.id].devices = rest;
    }
    Left left{allocation, {}};
    if (after_close_ == AfterClose::kept) left.devices = left_on(tables_, allocation);
    for (const RowId device : tables_.device_set(allocation.devices)) {
      const auto& kept = left.devices;
      if (std::find(kept.begin(), kept.end(), device) != kept.end()) continue;
      devices_[index(device)].remove(tables_.request(allocation.request));
    }
    if (!left.devices.empty()) left_.push_back(std::move(left));
  }

  void remove(const RecordedProgram& program) {
    if (is_kept(program.ending)) return;
    programs_.erase(program.id);
    devices_[index(program.device)].remove(program);
    if (program.ending == Ending::changed) changing_.push_back(program.device);
  }

  // Opens a device. If its process had opened the same device before, the earlier opening is
  // closed.
  void open(const RecordedDevice& device) {
    const auto [last, is_first] =
        last_opened_.try_emplace({device.process, device.number}, device.id);
    if (!is_first) devices_[index(std::exchange(last->second, device.id))].close();
    devices_[index(device.id)].open();
  }

  void end(const RecordedProcess& process) {
    if (after_close_ == AfterClose::kept) return;
    for (auto last = last_opened_.lower_bound({process.id, 0});
         last != last_opened_.end() && last->first.first == process.id; ++last) {
      devices_[index(last->second)].close();
    }
  }

  const Tables& tables_;
  AfterClose after_close_;
  std::unique_ptr<Story> story_;
  Time time_ = 0;
  Time settled_at_ = std::numeric_limits<Time>::min();
  ledger::FootprintTable footprints_;    // declared before the devices, whose programs refer to it
  std::vector<DevicePlayback> devices_;  // by row
  std::map<std::pair<RowId, std::uint32_t>, RowId> last_opened_;  // by process and device number
  std::vector<RowId> changing_;  // devices whose programs were given another layout just now
  boost::unordered_flat_map<RowId, RecordedAllocation> allocations_;
  std::vector<Left> left_;  // only used with AfterClose::kept
  boost::unordered_flat_map<RowId, RecordedProgram> programs_;
};

Playback::Playback(const Reader& reader, AfterClose after_close)
    : reader_(reader),
      after_close_(after_close),
      state_(std::make_unique<State>(reader, after_close)) {}
Playback::~Playback() = default;

Result<void> Playback::advance_to(Time time) {
  if (time < state_->time()) state_ = std::make_unique<State>(reader_, after_close_);
  return state_->advance_to(time);
}

Time Playback::time() const { return state_->time(); }

model::Snapshot Playback::snapshot() const { return state_->snapshot(); }

}  // namespace ttmem::recording
