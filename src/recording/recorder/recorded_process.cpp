// SPDX-License-Identifier: Apache-2.0
#include "recording/recorder/recorded_process.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "collector/process_info.hpp"
#include "collector/segment_files.hpp"
#include "segment/reader/footprint_reader.hpp"
#include "segment/reader/safe_text.hpp"
#include "segment/reader/segment_map.hpp"
#include "segment/reader/segment_reader.hpp"
#include "segment/reader/stable_copy.hpp"

namespace ttmem::recording {
namespace {

using segment::EventDetails;
using segment::EventRecord;
using segment::EventType;

// More is left in the ring until these are written.
constexpr std::size_t kMostWaiting = 1 << 20;
constexpr std::uint32_t kEventsAtOnce = 1 << 17;
// Slots beyond are those of a segment that nobody of ours wrote.
constexpr std::uint32_t kMostSlots = 1 << 23;

template <typename T>
T details_as(const EventDetails& details) {
  T value;
  std::memcpy(&value, details.data(), sizeof value);
  return value;
}

bool is_on_set(const EventRecord& event) {
  const auto type = static_cast<EventType>(event.type);
  return type == EventType::set_alloc || type == EventType::set_free ||
         type == EventType::set_dispatch;
}

Cb as_row(const segment::CbRecord& record) {
  return {.address = record.address,
          .bytes = record.bytes,
          .global = (record.flags & segment::kCbGlobal) != 0,
          .cores = record.cores};
}

Layout as_row(const segment::Footprint& footprint) {
  Layout layout;
  for (const segment::Cb& cb : footprint) {
    layout.push_back(
        {.address = cb.address, .bytes = cb.bytes, .global = cb.global, .cores = cb.cores});
  }
  return layout;
}

}  // namespace

RecordedProcess::RecordedProcess(UniqueFd segment, std::uint64_t began_ns, Writer& writer)
    : segment_(std::move(segment)),
      source_(segment_.get()),
      began_ns_(began_ns),
      writer_(writer),
      origins_(source_, writer),
      devices_(source_, writer),
      last_(std::numeric_limits<Time>::min()) {}

RecordedProcess::~RecordedProcess() = default;

bool RecordedProcess::begin() {
  const auto map = segment::map_segment(source_);
  if (!map) return false;
  const segment::Header& header = map->header;
  row_.pid = header.pid;
  row_.name = segment::safe_text(std::string_view(header.name, sizeof header.name));
  row_.command = segment::safe_text(std::string_view(header.command, sizeof header.command));
  row_.user = collector::user_name(header.uid);
  row_.begin_ns = static_cast<Time>(header.created_ns - began_ns_);
  row_.id = writer_.begin(row_);
  devices_.set_process(row_.id);
  return true;
}

// At least that of the one before, so that the order of a process is that of its events.
Time RecordedProcess::time_of(std::uint64_t when_ns) const {
  const auto time = static_cast<Time>(when_ns - began_ns_);
  // Times of buffers are coarse, so that the first may be before the process.
  const Time earliest = std::max(row_.begin_ns, last_ < 0 ? last_ : last_ + 1);
  return std::max(time, earliest);
}

void RecordedProcess::drain() {
  while (waiting_ < kMostWaiting) {
    auto events = segment::read_events(source_, read_up_to_, kEventsAtOnce);
    if (!events || events->newest == read_up_to_) return;
    devices_.set_dispatches_recorded(events->has_details);
    Batch batch;
    batch.events = std::move(*events);
    read_up_to_ = batch.events.newest;
    // Of a process that ran before, what it holds is recorded, and not what it did until now.
    batch.is_gap = attached_ || row_.begin_ns >= 0;
    if (batch.events.lost > 0 || !batch.is_gap) take_image(batch);
    attached_ = true;
    seen_ += batch.events.events.size();
    waiting_ += batch.events.events.size();
    batches_.push_back(std::move(batch));
  }
}

// Events are missing, so that the others of the batch may not make sense: the live list has all
// that is left of them.
void RecordedProcess::take_image(Batch& batch) {
  auto image = segment::read_segment(source_);
  if (!image) return;
  const std::uint64_t lost_before = lost_;
  if (batch.is_gap) {
    count_lost(image->event_count);
  } else {
    before_ = image->event_count;
  }
  batch.lost = lost_ - std::min(lost_, lost_before);
  batch.events.events.clear();
  batch.events.details.clear();
  read_up_to_ = std::max(read_up_to_, image->events);
  const auto older = [](const auto& a, const auto& b) { return a.when_ns < b.when_ns; };
  std::stable_sort(image->allocations.begin(), image->allocations.end(), older);
  std::stable_sort(image->programs.begin(), image->programs.end(), older);
  batch.image = std::move(*image);
  batch.image_time = static_cast<Time>(clock_ns(CLOCK_MONOTONIC) - began_ns_);
}

// `all` are the events of the process so far.
void RecordedProcess::count_lost(std::uint64_t all) {
  lost_ = all - std::min(all, before_ + seen_);
}

std::optional<Time> RecordedProcess::next_time() const {
  if (batches_.empty()) return std::nullopt;
  const Batch& batch = batches_.front();
  if (batch.has_event()) return time_of(batch.events.events[batch.next].when_ns);
  if (!batch.image) return last_;
  const segment::SegmentImage& image = *batch.image;
  if (batch.next_live < image.allocations.size()) {
    return time_of(image.allocations[batch.next_live].when_ns);
  }
  const std::size_t program = batch.next_live - image.allocations.size();
  return program < image.programs.size() ? time_of(image.programs[program].when_ns) : last_;
}

void RecordedProcess::apply_next() {
  Batch& batch = batches_.front();
  if (batch.has_event()) {
    const EventRecord& event = batch.events.events[batch.next++];
    const std::size_t count = batch.events.has_details ? segment::details_after(event) : 0;
    const auto details = std::span(batch.events.details).subspan(batch.next_details, count);
    batch.next_details += count;
    last_ = time_of(event.when_ns);
    apply(event, details, last_);
    --waiting_;
  } else if (batch.image &&
             batch.next_live < batch.image->allocations.size() + batch.image->programs.size()) {
    if (batch.next_live == 0) bridge(batch);
    last_ = *next_time();
    apply_live(*batch.image, batch.next_live++, last_);
  } else {
    if (batch.image && batch.next_live == 0) bridge(batch);
    batches_.pop_front();
  }
}

void RecordedProcess::apply(const EventRecord& event, std::span<const EventDetails> details,
                            Time time) {
  switch (static_cast<EventType>(event.type)) {
    case EventType::alloc:
    case EventType::set_alloc:
      return apply_allocation(event, details, time);
    case EventType::free:
    case EventType::set_free:
      return apply_free(event, time);
    case EventType::program_place:
      return apply_place(event, time);
    case EventType::program_destroy:
      if (event.slot < programs_.size() && programs_[event.slot].row != 0) {
        writer_.end_program(std::exchange(programs_[event.slot].row, 0), time, Ending::freed);
      }
      return;
    case EventType::device_open:
      devices_.open(event.device_id, time);
      return;
    case EventType::device_close:
      return close_device(event.device_id, time);
    case EventType::mark:
      return writer_.add(
          Mark{.time_ns = time, .process = row_.id, .name = origins_.text(event.id)});
    case EventType::footprint:
      return read_layout(event, details);
    case EventType::dispatch:
    case EventType::set_dispatch:
      return apply_dispatch(event, {.trace = false, .programs = {event.id}}, time);
    case EventType::trace_replay: {
      if (details.empty()) return;  // a ring without details cannot say which programs
      Launch launch{.trace = true, .programs = std::vector<std::uint64_t>(event.id)};
      std::memcpy(launch.programs.data(), details.data(), event.id * sizeof(std::uint64_t));
      return apply_dispatch(event, launch, time);
    }
  }
}

RowId RecordedProcess::devices_of(const EventRecord& event, Time time) {
  return is_on_set(event) ? devices_.set_of_set(event.device_id, time)
                          : devices_.set_of(event.device_id, time);
}

// Of a process that writes no details: those of its slot, if that has not been reused.
segment::AllocationDetails RecordedProcess::details_of(const EventRecord& event) const {
  segment::AllocationDetails details{};
  const auto map = segment::map_segment(source_);
  segment::StableCopy copy;
  segment::AllocationSlot slot{};
  const bool read = map && event.slot < map->allocations.capacity() &&
                    copy.load(source_, map->allocations.offset_of(event.slot), sizeof slot) &&
                    copy.sequenced(0, slot) && slot.born == event.number;
  if (read) {
    details.cores = slot.cores;
    std::memcpy(details.label, slot.label, sizeof details.label);
  }
  return details;
}

void RecordedProcess::apply_allocation(const EventRecord& event,
                                       std::span<const EventDetails> details, Time time) {
  // Without a slot nobody would know when it ends. The process counts it as dropped.
  if (event.slot >= kMostSlots) return;
  const auto place =
      details.empty() ? details_of(event) : details_as<segment::AllocationDetails>(details.front());
  // Without details the flags of the label are those of the slot.
  const Origin origin = origins_.of(event.flags, place);
  const Request request{.kind = static_cast<Kind>(event.kind),
                        .role = event.role,
                        .own_banks = (event.flags & segment::kOwnBanks) != 0,
                        .estimate = (event.flags & segment::kEstimate) != 0,
                        .has_bytes_per_bank = (event.flags & segment::kPerBankUnknown) == 0,
                        .banks = event.banks,
                        .cores = origin.cores,
                        .label = origin.label,
                        .scope = origin.scope,
                        .bytes = event.bytes,
                        .bytes_per_bank = event.bytes_per_bank};
  const bool has_address = (event.flags & segment::kNoAddress) == 0;
  begin_allocation({.what = writer_.request(request),
                    .number = event.id,
                    .when_ns = event.when_ns,
                    .devices = devices_of(event, time)},
                   event.slot, has_address ? std::optional(event.address) : std::nullopt, time);
}

void RecordedProcess::begin_allocation(Live live, std::uint32_t slot,
                                       std::optional<std::uint64_t> address, Time time) {
  if (slot >= allocations_.size()) allocations_.resize(slot + 1);
  Live& place = allocations_[slot];
  if (place.row != 0) writer_.end_allocation(place.row, time, Ending::changed);
  live.address = address;
  live.row = begin_row(live, time);
  place = live;
}

RowId RecordedProcess::begin_row(const Live& live, Time time) {
  return writer_.begin(Allocation{.devices = live.devices,
                                  .request = live.what,
                                  .number = live.number,
                                  .address = live.address,
                                  .begin_ns = time});
}

// It is no longer on these devices; what is left of it goes on in another row.
void RecordedProcess::leave(Live& live, RowId devices, Time time, Ending ending) {
  const RowId rest = devices_.without(live.devices, devices);
  if (rest == live.devices) return;
  writer_.end_allocation(std::exchange(live.row, 0), time, rest == 0 ? ending : Ending::changed);
  if (rest == 0) return;
  live.devices = rest;
  live.row = begin_row(live, time);
}

void RecordedProcess::apply_free(const EventRecord& event, Time time) {
  if (event.slot >= allocations_.size() || allocations_[event.slot].row == 0) return;
  leave(allocations_[event.slot], devices_of(event, time), time, Ending::freed);
}

void RecordedProcess::close_device(std::uint32_t number, Time time) {
  const RowId device = devices_.close(number, time);
  if (device == 0) return;
  const RowId set = devices_.set_of_rows({device});
  for (Live& live : allocations_) {
    if (live.row != 0) leave(live, set, time, Ending::device_closed);
  }
}

void RecordedProcess::read_layout(const EventRecord& event, std::span<const EventDetails> details) {
  Layout layout;
  for (const EventDetails& one : details) {
    layout.push_back(as_row(details_as<segment::CbRecord>(one)));
  }
  layouts_[event.id] = writer_.layout(layout);
}

// 0: its circular buffers were gone before they could be read.
RowId RecordedProcess::layout_of(const EventRecord& event) {
  if (event.address == 0) return event.bytes == 0 ? writer_.layout({}) : 0;
  const auto known = layouts_.find(event.address);
  if (known != layouts_.end()) return known->second;
  // It was published before this recording began.
  const auto map = segment::map_segment(source_);
  segment::StableCopy copy;
  segment::ProgramSlot slot{};
  const bool read = map && event.slot < map->programs.capacity() &&
                    copy.load(source_, map->programs.offset_of(event.slot), sizeof slot) &&
                    copy.sequenced(0, slot) && slot.footprint == event.address;
  if (!read) return 0;
  const auto footprints = segment::read_footprints(source_, *map, std::span(&slot, 1));
  if (!footprints || !footprints->of_program.front()) return 0;
  const Layout layout = as_row(footprints->footprints[*footprints->of_program.front()]);
  return layouts_[event.address] = writer_.layout(layout);
}

void RecordedProcess::apply_place(const EventRecord& event, Time time) {
  if (event.slot >= kMostSlots) return;
  if (event.slot >= programs_.size()) programs_.resize(event.slot + 1);
  Live& place = programs_[event.slot];
  if (place.row != 0) writer_.end_program(place.row, time, Ending::changed);
  Program program{.device = devices_.open(event.device_id, time),
                  .layout = layout_of(event),
                  .number = event.id,
                  .name = origins_.name(event.bytes_per_bank & UINT32_MAX),
                  .scope = origins_.scope(event.bytes_per_bank >> 32),
                  .begin_ns = time};
  place = {.row = writer_.begin(program),
           .what = program.layout,
           .number = program.number,
           .when_ns = event.when_ns,
           .devices = program.device};
}

void RecordedProcess::apply_dispatch(const EventRecord& event, const Launch& launch, Time time) {
  const RowId devices = devices_of(event, time);
  RowId row = 0;
  if (launch.trace) {
    row = writer_.launch(launch);
  } else {
    RowId& known = launches_[event.id];
    if (known == 0) known = writer_.launch(launch);
    row = known;
  }
  writer_.add(Dispatch{.time_ns = time, .devices = devices, .launch = row});
}

// What is live by now tells what has happened in between, but for what came and went. What has
// ended counts no longer than is certain, so that figures are "at least".
void RecordedProcess::bridge(const Batch& batch) {
  const segment::SegmentImage& image = *batch.image;
  const bool is_gap = batch.is_gap;
  const Time begin = std::max(last_, row_.begin_ns);
  const Time time = is_gap ? begin + 1 : batch.image_time;
  if (is_gap) {
    writer_.add(Gap{.process = row_.id,
                    .begin_ns = begin,
                    .end_ns = batch.image_time,
                    .lost_events = batch.lost});
  }
  std::vector<std::uint64_t> allocations(allocations_.size());
  std::vector<std::uint64_t> programs(programs_.size());
  for (const auto& live : image.allocations) {
    if (live.slot < allocations.size()) allocations[live.slot] = live.when_ns;
  }
  for (const auto& live : image.programs) {
    if (live.slot < programs.size()) programs[live.slot] = live.when_ns;
  }
  for (std::size_t i = 0; i < allocations_.size(); ++i) {
    Live& live = allocations_[i];
    if (live.row == 0 || live.when_ns == allocations[i]) continue;
    writer_.end_allocation(std::exchange(live.row, 0), time, Ending::gap);
  }
  for (std::size_t i = 0; i < programs_.size(); ++i) {
    Live& live = programs_[i];
    if (live.row == 0 || live.when_ns == programs[i]) continue;
    writer_.end_program(std::exchange(live.row, 0), time, Ending::gap);
  }
  for (const std::uint32_t number : devices_.open_numbers()) {
    const auto is_it = [&](const segment::DeviceImage& device) { return device.id == number; };
    if (std::none_of(image.devices.begin(), image.devices.end(), is_it)) close_device(number, time);
  }
  for (const segment::DeviceImage& device : image.devices) {
    devices_.open(device.id, is_gap ? time : time_of(device.opened_ns));
  }
}

void RecordedProcess::apply_live(const segment::SegmentImage& image, std::size_t index, Time time) {
  if (index < image.allocations.size()) return apply_live(image, image.allocations[index], time);
  apply_live(image, image.programs[index - image.allocations.size()], time);
}

void RecordedProcess::apply_live(const segment::SegmentImage& image,
                                 const segment::LiveAllocation& live, Time time) {
  if (live.slot < allocations_.size() && allocations_[live.slot].row != 0) return;
  std::vector<RowId> devices;
  for (const std::uint32_t device : segment::devices_of(live)) {
    devices.push_back(devices_.open(image.devices[device].id, time));
  }
  const Request request{.kind = live.kind,
                        .role = live.role,
                        .own_banks = live.own_banks,
                        .estimate = live.estimate,
                        .has_bytes_per_bank = live.bytes_per_bank.has_value(),
                        .banks = live.banks.value_or(0),
                        .cores = live.cores ? writer_.core_set(*live.cores) : 0,
                        .label = writer_.text(live.label),
                        .scope = writer_.scope(live.scope),
                        .bytes = live.bytes,
                        .bytes_per_bank = live.bytes_per_bank.value_or(0)};
  begin_allocation({.what = writer_.request(request),
                    .number = live.id,
                    .when_ns = live.when_ns,
                    .devices = devices_.set_of_rows(std::move(devices))},
                   live.slot, live.address, time);
}

void RecordedProcess::apply_live(const segment::SegmentImage& image,
                                 const segment::LiveProgram& live, Time time) {
  if (live.slot >= programs_.size()) programs_.resize(live.slot + 1);
  Live& place = programs_[live.slot];
  if (place.row != 0) return;
  const Program program{.device = devices_.open(image.devices[live.device].id, time),
                        .layout = writer_.layout(as_row(image.footprints[live.footprint])),
                        .number = live.program,
                        .name = writer_.text(live.name),
                        .scope = writer_.scope(live.scope),
                        .begin_ns = time};
  place = {.row = writer_.begin(program),
           .what = program.layout,
           .number = program.number,
           .when_ns = live.when_ns,
           .devices = program.device};
}

void RecordedProcess::refresh(Time time) { devices_.refresh(time); }

bool RecordedProcess::has_ended() const {
  const auto map = segment::map_segment(source_);
  if (!map) return true;
  if (map->header.exit_state != static_cast<std::uint32_t>(segment::ExitState::running)) {
    return true;
  }
  return collector::owner_of(segment_.get()) == collector::Owner::gone;
}

void RecordedProcess::end(Time time) {
  if (const auto map = segment::map_segment(source_)) {
    count_lost(segment::event_count(map->header));
  }
  refresh(time);
  time = std::max(time, last_);
  for (Live& live : allocations_) {
    if (live.row != 0) writer_.end_allocation(live.row, time, Ending::process_ended);
  }
  for (Live& live : programs_) {
    if (live.row != 0) writer_.end_program(live.row, time, Ending::process_ended);
  }
  for (const std::uint32_t number : devices_.open_numbers()) devices_.close(number, time);
  const auto map = segment::map_segment(source_);
  row_.end_ns = time;
  row_.killed =
      !map || map->header.exit_state != static_cast<std::uint32_t>(segment::ExitState::clean);
  writer_.change(row_);
}

}  // namespace ttmem::recording
