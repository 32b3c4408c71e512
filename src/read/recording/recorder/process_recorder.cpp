// SPDX-License-Identifier: Apache-2.0
#include "read/recording/recorder/process_recorder.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/safe_text.hpp"
#include "read/collector/process_info.hpp"
#include "read/collector/segment_files.hpp"
#include "segment/reader/buffer_layout.hpp"
#include "segment/reader/footprint_reader.hpp"
#include "segment/reader/stable_copy.hpp"

namespace ttmem::recording {
namespace {

using segment::EventDetails;
using segment::EventRecord;
using segment::EventType;

// The maximum number of slots. ttmem's tracker never writes a larger slot number.
constexpr std::uint32_t kMaxSlots = 1 << 23;

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

RecordedCb as_row(const segment::CbRecord& record) {
  return {.address = record.address,
          .bytes = record.bytes,
          .global = (record.flags & segment::kCbGlobal) != 0,
          .cores = record.cores};
}

Layout as_row(const segment::LiveFootprint& footprint) {
  Layout layout;
  for (const segment::LiveCb& cb : footprint) {
    layout.push_back(
        {.address = cb.address, .bytes = cb.bytes, .global = cb.global, .cores = cb.cores});
  }
  return layout;
}

// Returns the text of an event. Returns an empty text if the ring has no details, or if the event
// contradicts itself.
std::string text_of(const ProcessEvents::Step& step) {
  const std::size_t bytes = step.details.size() * sizeof(EventDetails);
  if (step.event->bytes > bytes) return {};
  std::string text(step.event->bytes, '\0');
  std::memcpy(text.data(), step.details.data(), text.size());
  return safe_lines(text);
}

// Returns true if the process has exited cleanly, or has called exec and is tracked again.
bool has_ended_well(const segment::Header& header) {
  return header.exit_state == static_cast<std::uint32_t>(segment::ExitState::clean);
}

// Returns true if the process lives but no longer holds its segment, which means that it has called
// exec(). Returns false for an exiting process: the kernel marks a process as exiting before it
// closes the files of the process.
bool has_called_exec(const segment::Header& header) {
  if (header.pid_namespace != collector::own_pid_namespace()) return false;
  const auto facts = collector::process_facts(header.pid);
  return facts && facts->start_time_ticks == header.start_time_ticks && !facts->is_ending;
}

}  // namespace

ProcessRecorder::ProcessRecorder(UniqueFd segment, std::uint64_t began_ns, Time earliest,
                                 Writer& writer)
    : segment_(std::move(segment)),
      source_(segment_.get()),
      began_ns_(began_ns),
      earliest_(earliest),
      writer_(writer),
      events_(source_, began_ns),
      origins_(source_, writer),
      devices_(source_, writer) {}

bool ProcessRecorder::begin() {
  const auto map = segment::map_segment(source_);
  if (!map) return false;
  const segment::Header& header = map->header;
  row_.pid = header.pid;
  row_.name = safe_text(std::string_view(header.name, sizeof header.name));
  row_.command = safe_text(std::string_view(header.command, sizeof header.command));
  row_.user = collector::user_name(header.uid);
  row_.begin_ns = std::max(possible(static_cast<Time>(header.created_ns - began_ns_)), earliest_);
  is_in_own_namespace_ = header.pid_namespace == collector::own_pid_namespace();
  start_time_ticks_ = header.start_time_ticks;
  ring_records_ = header.event_capacity;
  row_.id = writer_.begin(row_);
  events_.set_begin(row_.begin_ns);
  devices_.set_process(row_.id);
  return true;
}

void ProcessRecorder::drain() {
  events_.drain();
  devices_.set_dispatches_recorded(events_.has_details());
}

std::optional<Time> ProcessRecorder::next_time() const {
  const auto step = events_.next();
  return step ? std::optional(step->time_ns) : std::nullopt;
}

void ProcessRecorder::apply_next() {
  apply(*events_.next());
  events_.advance();
}

void ProcessRecorder::apply(const ProcessEvents::Step& step) {
  applied_ns_ = std::max(applied_ns_, step.time_ns);
  if (step.event != nullptr) {
    apply_event(step);
  } else if (step.bridge != nullptr) {
    apply_bridge(*step.bridge, step.time_ns);
  } else if (step.allocation != nullptr) {
    apply_live(*step.allocation, step.time_ns);
  } else {
    apply_live(*step.program, step.time_ns);
  }
}

void ProcessRecorder::apply_event(const ProcessEvents::Step& step) {
  const EventRecord& event = *step.event;
  const Time time = step.time_ns;
  switch (static_cast<EventType>(event.type)) {
    case EventType::alloc:
    case EventType::set_alloc:
      return apply_allocation(step);
    case EventType::free:
    case EventType::set_free:
      return apply_free(event, time);
    case EventType::program_place:
      return apply_place(event, time);
    case EventType::program_destroy:
      return apply_destroy(event, time);
    case EventType::device_open:
      devices_.open(event.device_id, time);
      return;
    case EventType::device_close:
      return close_device(event.device_id, time);
    case EventType::mark:
      return writer_.add(
          Mark{.time_ns = time, .process = row_.id, .name = origins_.text(event.id)});
    case EventType::failure:
      ++failures_;
      return writer_.add(
          RecordedFailure{.time_ns = time, .process = row_.id, .text = text_of(step)});
    case EventType::footprint:
      return read_layout(event, step.details);
    case EventType::dispatch:
    case EventType::set_dispatch:
      return apply_dispatch(event, {.trace = false, .programs = {event.id}}, time);
    case EventType::trace_replay: {
      if (step.details.empty()) return;  // without details, the programs of the trace are unknown
      Launch launch{.trace = true, .programs = std::vector<std::uint64_t>(event.id)};
      std::memcpy(launch.programs.data(), step.details.data(), event.id * sizeof(std::uint64_t));
      return apply_dispatch(event, launch, time);
    }
  }
}

RowId ProcessRecorder::devices_of(const EventRecord& event, Time time) {
  return is_on_set(event) ? devices_.set_of_set(event.device_id, time)
                          : devices_.set_of(event.device_id, time);
}

template <typename Slot>
std::optional<Slot> ProcessRecorder::read_slot(const segment::RecordPlaces& places,
                                               std::uint32_t index) const {
  Slot slot{};
  segment::StableCopy copy;
  const bool read = index < places.capacity() &&
                    copy.load(source_, places.offset_of(index), sizeof slot) &&
                    copy.sequenced(0, slot);
  return read ? std::optional(slot) : std::nullopt;
}

// Returns the details of an allocation. If the ring has no details, reads them from the slot;
// returns nullopt if the slot was reused.
std::optional<ProcessRecorder::Details> ProcessRecorder::details_of(
    const ProcessEvents::Step& step) const {
  const EventRecord& event = *step.event;
  if (!step.details.empty()) {
    return Details{event.flags, details_as<segment::AllocationDetails>(step.details.front())};
  }
  const auto map = segment::map_segment(source_);
  if (!map) return std::nullopt;
  const auto slot = read_slot<segment::AllocationSlot>(map->allocations, event.slot);
  if (!slot || slot->born != event.number) return std::nullopt;
  Details details{slot->flags, {.cores = slot->cores, .label = {}}};
  std::memcpy(details.record.label, slot->label, sizeof details.record.label);
  return details;
}

void ProcessRecorder::apply_allocation(const ProcessEvents::Step& step) {
  const EventRecord& event = *step.event;
  // An allocation without a slot is ignored, because no event would end it. The process counts it
  // as dropped.
  if (event.slot >= kMaxSlots) return;
  const auto kind = static_cast<Kind>(event.kind);
  const std::optional<Details> details = details_of(step);
  const Origin origin = details ? origins_.of(details->flags, details->record) : Origin{};
  const CoreMask place = details ? details->record.cores : CoreMask{};
  const RecordedRequest request{
      .kind = kind,
      .role = kind == Kind::kernel ? event.role : std::uint8_t{0},
      .own_banks = (event.flags & segment::kOwnBanks) != 0,
      .estimate = (event.flags & segment::kEstimate) != 0,
      .has_bytes_per_bank = (event.flags & segment::kPerBankUnknown) == 0,
      .banks = event.banks,
      .cores = origin.cores,
      .label = origin.label,
      .scope = origin.scope,
      .bytes = event.bytes,
      .bytes_per_bank = event.bytes_per_bank,
      .layout = segment::buffer_layout(kind, event.role, event.flags, place)};
  const bool has_address = (event.flags & segment::kNoAddress) == 0;
  begin_allocation({.when_ns = event.when_ns,
                    .request = writer_.request(request),
                    .number = event.id,
                    .address = has_address ? std::optional(event.address) : std::nullopt,
                    .devices = devices_of(event, step.time_ns)},
                   event.slot, step.time_ns);
}

void ProcessRecorder::begin_allocation(Live live, std::uint32_t slot, Time time) {
  if (slot >= allocations_.size()) allocations_.resize(slot + 1);
  Live& place = allocations_[slot];
  const bool is_same = place.row != 0 && place.number == live.number &&
                       place.request == live.request && place.address == live.address;
  if (is_same && leave_all_but(place, live.devices, time, Ending::changed)) return;
  if (place.row != 0) writer_.end_allocation(place.row, time, Ending::changed);
  live.row = writer_.begin(RecordedAllocation{.devices = live.devices,
                                              .request = live.request,
                                              .number = live.number,
                                              .address = live.address,
                                              .begin_ns = time});
  place = live;
}

// Ends an allocation on `devices`. The allocation stays on its other devices.
void ProcessRecorder::leave(Live& live, RowId devices, Time time, Ending ending) {
  const RowId rest = devices_.without(live.devices, devices);
  if (rest == live.devices) return;
  if (rest == 0) return writer_.end_allocation(std::exchange(live.row, 0), time, ending);
  writer_.end_part(live.row, {.devices = devices_.without(live.devices, rest),
                              .rest = rest,
                              .end_ns = time,
                              .ending = ending});
  live.devices = rest;
}

// Ends an allocation on all devices that are not in `devices`. Returns false, and does nothing, if
// `devices` are not some of its devices.
bool ProcessRecorder::leave_all_but(Live& live, RowId devices, Time time, Ending ending) {
  const RowId gone = devices_.without(live.devices, devices);
  if (gone == 0 || gone == live.devices || devices_.without(devices, live.devices) != 0) {
    return false;
  }
  leave(live, gone, time, ending);
  return true;
}

void ProcessRecorder::apply_free(const EventRecord& event, Time time) {
  if (event.slot >= allocations_.size() || allocations_[event.slot].row == 0) return;
  leave(allocations_[event.slot], devices_of(event, time), time, Ending::freed);
}

void ProcessRecorder::close_device(std::uint32_t number, Time time) {
  const RowId device = devices_.close(number, time);
  if (device == 0) return;
  const RowId set = devices_.set_of_rows({device});
  for (Live& live : allocations_) {
    if (live.row != 0) leave(live, set, time, Ending::device_closed);
  }
  for (Live& live : programs_) {
    if (live.row == 0 || live.devices != device) continue;
    writer_.end_program(std::exchange(live.row, 0), time, Ending::device_closed);
  }
}

void ProcessRecorder::read_layout(const EventRecord& event, std::span<const EventDetails> details) {
  Layout layout;
  for (const EventDetails& one : details) {
    layout.push_back(as_row(details_as<segment::CbRecord>(one)));
  }
  layouts_[event.id] = writer_.layout(layout);
}

// Returns the layout of a placed program, or 0 if its circular buffers were gone before they could
// be read.
RowId ProcessRecorder::layout_of(const EventRecord& event) {
  if (event.address == 0) return event.bytes == 0 ? writer_.layout({}) : 0;
  const auto known = layouts_.find(event.address);
  if (known != layouts_.end()) return known->second;
  // The layout is unknown here if it was published before this recording began. Read it from the
  // slot.
  const auto map = segment::map_segment(source_);
  if (!map) return 0;
  const auto slot = read_slot<segment::ProgramSlot>(map->programs, event.slot);
  if (!slot || slot->footprint != event.address) return 0;
  const auto footprints = segment::read_footprints(source_, *map, std::span(&*slot, 1));
  if (!footprints || !footprints->of_program.front()) return 0;
  const Layout layout = as_row(footprints->footprints[*footprints->of_program.front()]);
  return layouts_[event.address] = writer_.layout(layout);
}

void ProcessRecorder::apply_place(const EventRecord& event, Time time) {
  if (event.slot >= kMaxSlots) return;
  begin_program({.device = devices_.open(event.device_id, time),
                 .layout = layout_of(event),
                 .number = event.id,
                 .name = origins_.name(event.bytes_per_bank & UINT32_MAX),
                 .scope = origins_.scope(event.bytes_per_bank >> 32),
                 .begin_ns = time},
                event.slot, event.when_ns);
}

void ProcessRecorder::begin_program(const RecordedProgram& program, std::uint32_t slot,
                                    std::uint64_t when_ns) {
  if (slot >= programs_.size()) programs_.resize(slot + 1);
  Live& place = programs_[slot];
  if (place.row != 0) writer_.end_program(place.row, program.begin_ns, Ending::changed);
  place = {.row = writer_.begin(program), .when_ns = when_ns, .devices = program.device};
}

void ProcessRecorder::apply_destroy(const EventRecord& event, Time time) {
  // close_device() ends the programs that were there when their device was closed.
  if ((event.flags & segment::kDeviceCloses) != 0) return;
  if (event.slot >= programs_.size() || programs_[event.slot].row == 0) return;
  writer_.end_program(std::exchange(programs_[event.slot].row, 0), time, Ending::freed);
}

void ProcessRecorder::apply_dispatch(const EventRecord& event, const Launch& launch, Time time) {
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

// Makes the live rows equal to the image of a bridge. A row that is not in the image ends at the
// begin of the gap. Objects that began and ended during the gap are missing. The figures during the
// gap are therefore lower bounds.
void ProcessRecorder::apply_bridge(const Bridge& bridge, Time time) {
  image_ = &bridge.image;
  // So that no row of a living device ends at the time at which rows end in the gap.
  if (bridge.is_gap) applied_ns_ = std::max(applied_ns_, time + 1);
  if (bridge.is_gap) {
    writer_.add(Gap{.process = row_.id,
                    .begin_ns = time - 1,
                    .end_ns = std::max(time, end_of_gap(bridge)),
                    .lost_events = bridge.lost_events});
  }
  const auto end_rows_not_in = [](Slots& slots, const auto& live, const auto& end) {
    std::vector<std::uint64_t> since(slots.size());
    for (const auto& one : live) {
      if (one.slot < since.size()) since[one.slot] = one.when_ns;
    }
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const bool was_replaced = slots[i].row != 0 && slots[i].when_ns != since[i];
      if (was_replaced) end(std::exchange(slots[i].row, 0));
    }
  };
  end_rows_not_in(allocations_, image_->allocations,
                  [&](RowId row) { writer_.end_allocation(row, time, Ending::gap); });
  end_rows_not_in(programs_, image_->programs,
                  [&](RowId row) { writer_.end_program(row, time, Ending::gap); });
  for (const std::uint32_t number : devices_.open_numbers()) {
    const Time begin = devices_.begin_of(number);
    const auto is_same = [&](const segment::DeviceImage& device) {
      return device.id == number && static_cast<Time>(device.opened_ns - began_ns_) <= begin;
    };
    const auto& open = image_->devices;
    if (std::none_of(open.begin(), open.end(), is_same)) close_device(number, time);
  }
  if (bridge.is_gap) {
    devices_.note_peaks_of_gap(*image_, time);
  } else {
    devices_.note_earlier_peaks(*image_);
  }
  for (const segment::DeviceImage& device : image_->devices) {
    devices_.open(device.id, bridge.is_gap ? time : events_.time_of(device.opened_ns));
  }
}

// Returns when the figures are right again: at the image of the bridge, or at the exit of the
// process if that was before.
Time ProcessRecorder::end_of_gap(const Bridge& bridge) const {
  segment::Header header{};
  const bool has_exited =
      segment::read_value(source_, 0, header) && header.ended_ns != 0 && has_ended_well(header);
  return has_exited ? std::min(bridge.time_ns, static_cast<Time>(header.ended_ns - began_ns_))
                    : bridge.time_ns;
}

void ProcessRecorder::apply_live(const segment::LiveAllocation& live, Time time) {
  std::vector<RowId> rows;
  for (const std::uint32_t device : segment::devices_of(live)) {
    rows.push_back(devices_.open(image_->devices[device].id, time));
  }
  const RowId devices = devices_.set_of_rows(std::move(rows));
  if (live.slot < allocations_.size() && allocations_[live.slot].row != 0) {
    leave_all_but(allocations_[live.slot], devices, time, Ending::gap);
    return;
  }
  const RecordedRequest request{.kind = live.kind,
                                .role = live.role,
                                .own_banks = live.own_banks,
                                .estimate = live.estimate,
                                .has_bytes_per_bank = live.bytes_per_bank.has_value(),
                                .banks = live.banks.value_or(0),
                                .cores = live.cores ? writer_.core_set(*live.cores) : 0,
                                .label = writer_.text(live.label),
                                .scope = origins_.scope(live.scope_number),
                                .bytes = live.bytes,
                                .bytes_per_bank = live.bytes_per_bank.value_or(0),
                                .layout = live.layout};
  begin_allocation({.when_ns = live.when_ns,
                    .request = writer_.request(request),
                    .number = live.id,
                    .address = live.address,
                    .devices = devices},
                   live.slot, time);
}

void ProcessRecorder::apply_live(const segment::LiveProgram& live, Time time) {
  if (live.slot < programs_.size() && programs_[live.slot].row != 0) return;
  begin_program({.device = devices_.open(image_->devices[live.device].id, time),
                 .layout = writer_.layout(as_row(image_->footprints[live.footprint])),
                 .number = live.program,
                 .name = writer_.text(live.name),
                 .scope = origins_.scope(live.scope_number),
                 .begin_ns = time},
                live.slot, live.when_ns);
}

void ProcessRecorder::note_scopes() {
  const auto time_of = [&](std::int64_t ns) {
    return static_cast<Time>(static_cast<std::uint64_t>(ns) - began_ns_);
  };
  for (const auto& [scope, visits] : origins_.visits()) {
    ScopeOfProcess row{.process = row_.id, .scope = scope, .visits = visits};
    row.visits.last_ns = time_of(visits.last_ns);
    row.visits.before_ns = time_of(visits.before_ns);
    writer_.change(row);
  }
}

void ProcessRecorder::refresh(Time time) { devices_.refresh(time); }

void ProcessRecorder::look_for_end(Time now) {
  if (has_ended_) return;
  segment::Header header{};
  has_ended_ = !segment::read_value(source_, 0, header) || header.magic != segment::kMagic ||
               header.exit_state != static_cast<std::uint32_t>(segment::ExitState::running) ||
               collector::owner_of(segment_.get()) == collector::Owner::gone;
  if (!has_ended_) alive_ns_ = now;
}

bool ProcessRecorder::is_ending() const {
  if (has_ended_ || !is_in_own_namespace_) return false;
  const auto facts = collector::process_facts(row_.pid);
  return !facts || facts->start_time_ticks != start_time_ticks_ || facts->is_ending;
}

// Returns the time at which the process ended. A clean exit leaves its time. Nobody knows the time
// of any other end, so the last known moment of life is taken: the memory of the process is never
// added to the memory of a process that started after the end.
Time ProcessRecorder::end_time(const segment::Header* header, Time now) const {
  // The process ended after its last event, so that what it allocated last counts in the peak.
  const Time alive = std::max({row_.begin_ns, alive_ns_, applied_ns_ + 1});
  if (header == nullptr || header->ended_ns == 0) return alive;
  return std::max(alive, std::min(now, static_cast<Time>(header->ended_ns - began_ns_)));
}

void ProcessRecorder::end(Time now) {
  const auto map = segment::map_segment(source_);
  if (map) events_.count_lost(segment::event_count(map->header));
  const Time time = end_time(map ? &map->header : nullptr, now);
  refresh(time);
  note_scopes();
  for (Live& live : allocations_) {
    if (live.row != 0) writer_.end_allocation(live.row, time, Ending::process_ended);
  }
  for (Live& live : programs_) {
    if (live.row != 0) writer_.end_program(live.row, time, Ending::process_ended);
  }
  for (const std::uint32_t number : devices_.open_numbers()) devices_.close(number, time);
  row_.end_ns = time;
  if (map && (has_ended_well(map->header) || has_called_exec(map->header))) row_.killed = false;
  writer_.change(row_);
}

}  // namespace ttmem::recording
