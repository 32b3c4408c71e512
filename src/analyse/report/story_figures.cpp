// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/story_figures.hpp"

#include <algorithm>

namespace ttmem::report {

using recording::Ending;
using recording::Event;
using recording::RecordedAllocation;

StoryFigures::StoryFigures(const Tables& tables, const Chips& chips)
    : tables_(tables),
      chips_(chips),
      places_(chips.chips.size()),
      requests_(tables),
      growth_(tables),
      programs_(tables) {
  figures_.reserve(chips.chips.size());
  for (const RecordedChip& chip : chips.chips) figures_.emplace_back(tables, chip);
}

void StoryFigures::apply(const Event& event) {
  if (event.time_ns != now_.time_ns) settle(event.time_ns);
  now_ = moment_of(event);
  switch (event.type) {
    case Event::Type::allocate:
      return allocate(*event.allocation);
    case Event::Type::free:
      return free(event);
    case Event::Type::place:
      unknown_programs_ += event.program->layout == 0 ? 1 : 0;
      growth_.place(*event.program);
      return programs_changed(programs_.place(*event.program));
    case Event::Type::remove:
      growth_.remove(*event.program);
      return programs_changed(programs_.remove(*event.program));
    case Event::Type::device_open:
    case Event::Type::device_close:
      return open_or_close(event);
    case Event::Type::mark:
      return growth_.mark(*event.mark, [&](RowId device) { return programs_.bytes(device); });
    default:
      return;
  }
}

void StoryFigures::finish() { settle(now_.time_ns); }

void StoryFigures::settle(Time now) {
  now_ = {now, Event::Type::free, 0};  // the moment before all events at `now`
  if (programs_.is_settled()) return;
  programs_.settle([&](const RowPrograms::Changed& changed) { programs_changed(changed); });
}

void StoryFigures::open_or_close(const Event& event) {
  const std::uint32_t chip = chips_.of(event.device->id);
  ChipFigures& figures = figures_[chip];
  event.type == Event::Type::device_open ? figures.open(*event.device)
                                         : figures.close(*event.device);
  const std::optional<Regions> regions = figures.regions();
  if (regions) places_.set_regions(chip, *regions);
  figures.set_regions_fit(regions && places_.of(chip).has(*regions));
  figures.note_all(places_.of(chip), now_);
}

void StoryFigures::change_places(const RecordedAllocation& allocation, bool add) {
  const recording::RecordedRequest& request = tables_.request(allocation.request);
  const std::vector<std::uint32_t>& chips = chips_with(allocation);
  if (request.kind > Kind::trace) return;  // the other kinds lie in no bank
  std::optional<CoreMask> cores;
  if (request.own_banks && request.cores != 0) {
    const RowId device = tables_.device_set(allocation.devices).front();
    cores = cores_on_chip(chips_.chips[chips.front()], tables_.device(device),
                          tables_.core_set(request.cores));
  }
  places_.change(chips, request, allocation.address, cores ? &*cores : nullptr, add);
}

void StoryFigures::allocate(const RecordedAllocation& allocation) {
  const recording::RecordedRequest& request = tables_.request(allocation.request);
  bool trace_is_live = false;
  for (const std::uint32_t chip : chips_with(allocation)) {
    trace_is_live = trace_is_live || places_.of(chip).live(Kind::trace) > 0;
  }
  change_places(allocation, true);
  for (const std::uint32_t chip : chips_with(allocation)) {
    figures_[chip].allocate(request, places_.of(chip), now_);
  }
  live_.add(allocation.devices, allocation.request);
  requests_.allocate(allocation, trace_is_live);
  growth_.allocate(allocation);
}

void StoryFigures::free(const Event& event) {
  const RecordedAllocation& allocation = *event.allocation;
  const recording::RecordedRequest& request = tables_.request(allocation.request);
  change_places(allocation, false);
  for (const std::uint32_t chip : chips_with(allocation)) {
    figures_[chip].free(request, places_.of(chip), now_);
  }
  live_.remove(event.before, allocation.request);
  if (event.rest != 0) live_.add(event.rest, allocation.request);
  growth_.free(allocation);
  if (allocation.ending == Ending::freed) return;
  for (const RowId device : left_on(tables_, allocation)) left_.add(device, allocation.request);
}

void StoryFigures::programs_changed(const RowPrograms::Changed& changed) {
  const std::uint32_t chip = chips_.of(changed.device);
  figures_[chip].programs_changed(tables_.device(changed.device), programs_.ledger(changed.device),
                                  changed.before_bytes, places_.of(chip), now_);
}

}  // namespace ttmem::report
