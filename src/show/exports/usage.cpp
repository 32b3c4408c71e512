// SPDX-License-Identifier: Apache-2.0
#include "show/exports/usage.hpp"

#include <optional>

namespace ttmem::exports {

using recording::Event;
using recording::RowId;
using recording::Time;

Usage::Usage(const recording::Tables& tables, const Selection& selection, const LeftAtEnd* left)
    : tables_(tables),
      selection_(selection),
      left_(left),
      chips_(selection.chips().size()),
      programs_(tables.devices.size()),
      is_changed_(selection.chips().size()) {}
Usage::~Usage() = default;

void Usage::note_change(RowId device) {
  const std::size_t chip = selection_.chip_of(device);
  if (chip == Selection::kNone || is_changed_[chip]) return;
  is_changed_[chip] = true;
  changed_.push_back(chip);
}

void Usage::clear_changed() {
  for (const std::size_t chip : changed_) is_changed_[chip] = false;
  changed_.clear();
}

void Usage::apply(const Event& event) {
  switch (event.type) {
    case Event::Type::allocate:
    case Event::Type::free:
      return allocate(*event.allocation, event.type == Event::Type::allocate);
    case Event::Type::place:
      return place(*event.program);
    case Event::Type::remove:
      return remove(*event.program);
    case Event::Type::dispatch:
      return dispatch(*event.dispatch);
    case Event::Type::device_close:
      return forget_if_empty(event.device->id);
    default:
      return;
  }
}

void Usage::allocate(const recording::RecordedAllocation& allocation, bool begins) {
  const recording::RecordedRequest& request = tables_.request(allocation.request);
  if (!selection_.has(request.kind)) return;
  const std::uint64_t bytes = request.used_bytes();
  for (const RowId device : tables_.device_set(allocation.devices)) {
    const std::size_t chip = selection_.chip_of(device);
    if (chip == Selection::kNone) continue;
    const recording::EndOnDevice end{allocation.end_ns, allocation.ending};
    if (!begins && left_ != nullptr && left_->has(device, end)) continue;
    std::uint64_t& used = chips_[chip].allocated[request.kind];
    used = begins ? used + bytes : used - bytes;
    note_change(device);
  }
}

void Usage::place(const recording::RecordedProgram& program) {
  const std::size_t chip = selection_.chip_of(program.device);
  if (chip == Selection::kNone) return;
  Programs& programs = programs_on(program.device);
  if (!programs) {
    programs = std::make_unique<recording::PlacedPrograms>(tables_, tables_.device(program.device),
                                                           footprints_);
    chips_[chip].placed.push_back(program.device);
  }
  programs->place(program);
  note_change(program.device);
}

void Usage::remove(const recording::RecordedProgram& program) {
  Programs& programs = programs_on(program.device);
  if (!programs) return;
  const recording::EndOnDevice end{program.end_ns, program.ending};
  if (left_ != nullptr && left_->has(program.device, end)) return;
  programs->remove(program);
  if (program.ending == recording::Ending::changed) changing_.push_back(program.device);
  note_change(program.device);
}

void Usage::forget_if_empty(RowId device) {
  Programs& programs = programs_on(device);
  if (!programs || programs->ledger().programs() > 0) return;
  programs.reset();
  std::erase(chips_[selection_.chip_of(device)].placed, device);
}

void Usage::dispatch(const recording::Dispatch& dispatch) {
  const recording::Launch& launch = tables_.launch(dispatch.launch);
  for (const RowId device : tables_.device_set(dispatch.devices)) {
    const Programs& programs = programs_on(device);
    if (!programs) continue;
    programs->dispatch(launch);
    note_change(device);
  }
}

void Usage::settle() {
  for (const RowId device : changing_) {
    if (programs_on(device)) programs_on(device)->settle();
  }
  changing_.clear();
}

std::uint64_t Usage::used_bytes(const ExportedChip& chip, Kind kind) const {
  std::uint64_t sum = of(chip).allocated[kind];
  if (kind != Kind::cb || !selection_.has(Kind::cb)) return sum;
  for (const RowId device : of(chip).placed) sum += programs_on(device)->ledger().physical_bytes();
  return sum;
}

std::uint64_t Usage::used_bytes(const ExportedChip& chip, Memory memory) const {
  std::uint64_t sum = 0;
  for (const Kind kind : kAllKinds) {
    if (memory_of(kind) == memory) sum += used_bytes(chip, kind);
  }
  return sum;
}

std::uint64_t Usage::resident_bytes(const ExportedChip& chip) const {
  std::uint64_t sum = 0;
  for (const RowId device : of(chip).placed) sum += programs_on(device)->ledger().resident_bytes();
  return sum;
}

Result<void> for_each_moment(
    const recording::Reader& reader, Usage& usage,
    const std::function<void(Time, const std::vector<std::size_t>&)>& visit,
    const std::function<void(const Event&)>& each, recording::Telling telling) {
  std::optional<Time> now;
  const auto end_moment = [&] {
    usage.settle();
    visit(*now, usage.changed());
    usage.clear_changed();
  };
  auto passed = reader.for_each_event(
      [&](const Event& event) {
        if (now && *now != event.time_ns) end_moment();
        now = event.time_ns;
        if (each) each(event);
        usage.apply(event);
        return true;
      },
      telling);
  if (passed && now) end_moment();
  return passed;
}

Result<Peaks> find_peaks(const recording::Reader& reader, const Selection& selection) {
  Usage usage(reader.tables(), selection);
  Peaks peaks(selection.chips().size());
  const auto look = [&](Time time, const std::vector<std::size_t>& changed) {
    for (const std::size_t chip : changed) {
      for (std::size_t memory = 0; memory < kMemories; ++memory) {
        const std::uint64_t bytes =
            usage.used_bytes(selection.chips()[chip], static_cast<Memory>(memory));
        if (bytes > peaks[chip][memory].bytes) peaks[chip][memory] = {bytes, time};
      }
    }
  };
  const auto passed = for_each_moment(reader, usage, look);
  if (!passed) return passed.error();
  return peaks;
}

}  // namespace ttmem::exports
