// SPDX-License-Identifier: Apache-2.0
#include "analyse/fit/simulation.hpp"

#include <algorithm>
#include <utility>

#include "analyse/report/chip_report.hpp"

namespace ttmem::fit {

using recording::Ending;
using recording::Event;
using recording::RecordedAllocation;
using recording::RecordedProgram;

Simulation::Simulation(const Plan& plan)
    : plan_(plan),
      chips_(recording::find_chips(plan.tables)),
      figures_(plan.tables, chips_),
      allocators_(plan.tables.device_sets.size()),
      sets_of_device_(plan.tables.devices.size()) {
  for (std::size_t set = 0; set < plan.tables.device_sets.size(); ++set) {
    for (const RowId device : plan.tables.device_sets[set]) {
      sets_of_device_[static_cast<std::size_t>(device - 1)].push_back(static_cast<RowId>(set + 1));
    }
  }
  note_what_was_not_reported();
}

void Simulation::note_what_was_not_reported() {
  for (const recording::RecordedDevice& device : plan_.tables.devices) {
    for (const Kind kind : {Kind::dram, Kind::l1, Kind::cb}) {
      const bool known = (device.known_kinds >> static_cast<unsigned>(kind) & 1) != 0;
      if (!known) unknown_.add(Why::not_reported, kind, 1, 0);
    }
  }
  if (plan_.tables.run.lost_events > 0) unknown_.add_lost(plan_.tables.run.lost_events);
}

bool Simulation::apply(const Event& event) {
  if (event.time_ns != now_) end_leaving();
  now_ = event.time_ns;
  if (event.type != Event::Type::place || !is_placing(*event.program)) check_placing();
  if (failure_) return false;
  switch (event.type) {
    case Event::Type::allocate:
      allocate(event);
      break;
    case Event::Type::free:
      free(event);
      break;
    case Event::Type::place:
      place(*event.program);
      break;
    case Event::Type::remove:
      remove(*event.program);
      break;
    case Event::Type::dispatch:
      dispatch(*event.dispatch);
      break;
    default: {
      Event told = event;
      if (event.device != nullptr &&
          (event.type == Event::Type::device_open || event.type == Event::Type::device_close)) {
        told.device = &plan_.tables.device(event.device->id);
      }
      figures_.apply(told);
    }
  }
  return !failure_;
}

void Simulation::finish() {
  end_leaving();
  if (!failure_) check_placing();
  figures_.finish();
}

// Applies an event of an allocation to the figures, with the size and the address on the other
// board.
void Simulation::tell(Event event, const LiveRow& row) {
  const RowId first = plan_.tables.device_set(row.allocation.devices).front();
  RecordedAllocation there = *event.allocation;
  there.request = plan_.request_on(first, there.request);
  there.address = row.live.set != 0 ? row.live.address : std::nullopt;
  event.allocation = &there;
  figures_.apply(event);
}

void Simulation::tell(Event::Type type, const RecordedProgram& recorded) {
  RecordedProgram there = recorded;
  there.layout = plan_.layout_on(recorded.device, recorded.layout);
  if (there.layout != 0 && plan_.layout(there.layout).why != Why::none) there.layout = 0;
  Event event;
  event.type = type;
  event.time_ns = now_;
  event.program = &there;
  figures_.apply(event);
}

Allocator& Simulation::allocator(RowId set) {
  std::unique_ptr<Allocator>& own = allocators_[static_cast<std::size_t>(set - 1)];
  if (!own) {
    const RowId device = plan_.tables.device_set(set).front();
    own = std::make_unique<Allocator>(plan_.target(device).map);
  }
  return *own;
}

void Simulation::allocate(const Event& event) {
  const RecordedAllocation& allocation = *event.allocation;
  Live live;
  if (const auto earlier = taken_over(allocation)) {
    live = *earlier;
  } else if (!put(allocation, live)) {
    return;
  }
  LiveRow& row = live_[allocation.id];
  row = {allocation, live};
  tell(event, row);
}

// Places a buffer. Returns false if the request is left out or fails.
bool Simulation::put(const RecordedAllocation& allocation, Live& live) {
  const RowId device = plan_.tables.device_set(allocation.devices).front();
  const TranslatedRequest& translated = plan_.request(plan_.request_on(device, allocation.request));
  const recording::RecordedRequest& request = translated.request;
  if (request.kind != Kind::kernel && request.kind != Kind::system) ++requests_;
  if (translated.why != Why::none) {
    unknown_.add(translated.why, request.kind, 1, request.used_bytes());
    if (is_trace_in_dram(request.kind, plan_.target(device))) unknown_.touch(Kind::dram);
    return false;
  }
  if (!translated.is_placed) return true;
  Allocator& in = allocator(allocation.devices);
  if (request.kind == Kind::trace && !in.has_trace_room(request.bytes)) {
    fail(allocation, in, Cause::trace_region);
    return false;
  }
  live.address = in.place(request.kind, request.bytes_per_bank, translated.bottom_up);
  if (!live.address) {
    const auto left = in.statistics(request.kind);
    Cause cause = request.bytes_per_bank > left.free_bytes ? Cause::capacity : Cause::fragmentation;
    if (request.kind == Kind::l1_small) cause = Cause::l1_small_region;
    if (request.kind == Kind::trace) cause = Cause::trace_region;
    fail(allocation, in, cause);
    return false;
  }
  if (request.kind == Kind::trace) in.add_trace(request.bytes);
  live.set = allocation.devices;
  return true;
}

// A buffer of a mesh keeps its place in the bank until it is freed on its last device.
void Simulation::free(const Event& event) {
  const RecordedAllocation& allocation = *event.allocation;
  const auto known = live_.find(allocation.id);
  if (known == live_.end()) return;
  tell(event, known->second);
  if (event.rest != 0) return;
  const Live live = known->second.live;
  live_.erase(known);
  if (allocation.ending == Ending::changed) {
    leaving_.push_back({allocation, live});
  } else {
    take_back(allocation, live);
  }
}

void Simulation::take_back(const RecordedAllocation& allocation, const Live& live) {
  if (live.set == 0) return;
  const RowId device = plan_.tables.device_set(allocation.devices).front();
  const recording::RecordedRequest& request =
      plan_.request(plan_.request_on(device, allocation.request)).request;
  Allocator& in = allocator(live.set);
  in.release(request.kind, *live.address);
  if (request.kind == Kind::trace) in.remove_trace(request.bytes);
}

// Finds the previous row of the allocation by process, number, address and request.
std::optional<Simulation::Live> Simulation::taken_over(const RecordedAllocation& allocation) {
  const auto before = std::find_if(leaving_.begin(), leaving_.end(), [&](const LiveRow& leaving) {
    return process_with(leaving.allocation.devices) == process_with(allocation.devices) &&
           leaving.allocation.number == allocation.number &&
           leaving.allocation.address == allocation.address &&
           leaving.allocation.request == allocation.request;
  });
  if (before == leaving_.end()) return std::nullopt;
  const Live live = before->live;
  leaving_.erase(before);
  return live;
}

void Simulation::end_leaving() {
  for (const LiveRow& leaving : leaving_) take_back(leaving.allocation, leaving.live);
  leaving_.clear();
}

bool Simulation::is_placing(const RecordedProgram& program) const {
  return !placing_.devices.empty() && placing_.program.number == program.number &&
         plan_.tables.device(placing_.program.device).process ==
             plan_.tables.device(program.device).process;
}

void Simulation::place(const RecordedProgram& program) {
  programs_[{program.device, program.number}] = program;
  if (placing_.devices.empty()) {
    ++requests_;
    placing_.program = program;
  }
  placing_.devices.push_back(program.device);
  tell(Event::Type::place, program);
}

void Simulation::remove(const RecordedProgram& program) {
  if (program.ending != Ending::changed) programs_.erase({program.device, program.number});
  tell(Event::Type::remove, program);
}

BoardFit Simulation::result() const {
  BoardFit result;
  if (!plan_.tables.devices.empty()) {
    const Target& target = plan_.target(failing_ != 0 ? failing_ : 1);
    result.opened = {target.grid, target.map};
  }
  result.requests = requests_;
  result.failure = failure_;
  result.unknown = unknown_.list();
  const bool fails = failure_ && failure_->certain;
  const bool is_certain = !failure_ && result.unknown.empty();
  result.verdict = fails ? Verdict::does_not_fit : is_certain ? Verdict::fits : Verdict::unknown;
  for (std::uint32_t chip = 0; chip < chips_.chips.size(); ++chip) {
    result.devices.push_back(
        report::chip_report(plan_.tables, chips_.chips[chip], figures_.chip(chip)));
  }
  return result;
}

}  // namespace ttmem::fit
