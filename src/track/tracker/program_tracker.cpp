// SPDX-License-Identifier: Apache-2.0
#include "track/tracker/program_tracker.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "track/tracker/clock.hpp"

namespace ttmem::tracker {

ProgramTracker::ProgramTracker(TrackedProcess& process, DeviceTable& devices)
    : process_(process),
      segment_(process.segment()),
      devices_(devices),
      footprints_([this](ledger::Footprint& footprint) { publish_footprint(footprint); },
                  [this](ledger::Footprint& footprint) { retire_footprint(footprint); }) {}

ProgramTracker::~ProgramTracker() {
  devices_.for_each([](TrackedDevice& device) { device.ledger.reset(); });
}

void ProgramTracker::place(TrackedDevice& device, std::uint64_t program,
                           std::span<const ttmem_cb> cbs, const char* name) {
  place_footprint(device, program, footprint_of(device, cbs), name);
}

void ProgramTracker::place(const DeviceMask& devices, std::uint64_t program,
                           std::span<const ttmem_cb> cbs, const char* name) {
  devices.for_each([&](std::uint32_t record) { place(devices_.at(record), program, cbs, name); });
}

void ProgramTracker::place_footprint(TrackedDevice& device, std::uint64_t program,
                                     ledger::FootprintRef footprint, const char* name) {
  using Placed = ledger::DeviceLedger::Placed;
  // place() moves the earlier footprint to `footprint`, so that the records of the earlier
  // footprint stay until the new footprint is published. At any moment, even if the process is
  // killed, a reader therefore finds the program with one of the two footprints.
  const Placed placed = device.ledger->place(program, std::move(footprint));
  if (placed == Placed::unchanged && name == nullptr) return;
  ledger::Placement& placement = *device.ledger->find(program);
  if (placed == Placed::fresh) {
    placement.slot = kNoSlot;
    placement.name = 0;
  }
  const bool renamed = name != nullptr && rename(placement, name);
  if (placed == Placed::unchanged) {
    if (renamed) publish_name(device, placement);
    return;
  }
  if (placement.footprint->clipped) device.count_bad_argument();
  publish_program(device, placement);
  publish_cb_figures(device);
}

// Returns true if the stored name of the program changed: to `name`, or to no name because there
// was no room.
bool ProgramTracker::rename(ledger::Placement& placement, const char* name) {
  if (*name == '\0' || process_.texts().has_text(placement.name, name)) return false;
  const std::uint32_t before = std::exchange(placement.name, process_.texts().number_of(name));
  if (placement.name == 0) increase(segment_.header().dropped_names);
  return placement.name != before;
}

void ProgramTracker::publish_name(TrackedDevice& device,
                                  const ledger::Placement& placement) noexcept {
  if (placement.slot == kNoSlot) return;
  write_place_event(device, placement, process_.exact_time());
  // Stores the number in one piece, after the text: a reader finds the old name or the new name.
  std::atomic_ref<std::uint32_t>(segment_.program(placement.slot).name)
      .store(placement.name, std::memory_order_release);
  // No figure changed. The new sequence number makes readers that cache the segment read it again.
  publish(device.record->seq, [] {});
}

void ProgramTracker::write_place_event(const TrackedDevice& device,
                                       const ledger::Placement& placement,
                                       std::uint64_t time) noexcept {
  ++placements_;
  const ledger::Footprint& footprint = *placement.footprint.get();
  segment_.write_event({.type = segment::EventType::program_place,
                        .kind = Kind::cb,
                        .device_id = device.id,
                        .id = placement.program,
                        .address = footprint.number,
                        .bytes = footprint.logical_bytes,
                        .bytes_per_bank = placement.name | std::uint64_t{process_.scope()} << 32,
                        .slot = placement.slot,
                        .when_ns = time});
}

// Writes an event only if a recorder reads the events. `number` is the id of a device or the number
// of a device set, depending on `type`.
void ProgramTracker::write_dispatch_event(segment::EventType type, std::uint32_t number,
                                          std::uint64_t program) noexcept {
  if (!segment_.has_event_details()) [[likely]] {
    return;
  }
  segment_.write_event(
      {.type = type, .device_id = number, .id = program, .when_ns = process_.exact_time()});
}

[[gnu::always_inline]] inline void ProgramTracker::dispatch_on(TrackedDevice& device,
                                                               std::uint64_t program) {
  const ledger::Placement* placement = device.ledger->find(program);
  if (placement == nullptr || !placement->fully_resident) make_resident(device, program);
}

void ProgramTracker::make_resident(TrackedDevice& device, std::uint64_t program) {
  set_dispatches_reported(device);
  if (!device.ledger->dispatch(program)) {
    publish(device.record->seq, [&] { increase(device.anomalies().unknown_programs); });
    return;
  }
  publish_cb_figures(device);
}

void ProgramTracker::dispatch(TrackedDevice& device, std::uint64_t program) {
  write_dispatch_event(segment::EventType::dispatch, device.id, program);
  dispatch_on(device, program);
}

void ProgramTracker::dispatch(const DeviceMask& devices, std::uint64_t program) {
  if (segment_.has_event_details()) {
    const std::uint32_t set = devices_.set_number(devices);
    if (set != 0) write_dispatch_event(segment::EventType::set_dispatch, set, program);
  }
  devices.for_each([&](std::uint32_t record) { dispatch_on(devices_.at(record), program); });
}

void ProgramTracker::replay_trace(TrackedDevice& device, std::span<const std::uint64_t> programs) {
  if (programs.empty()) return;
  write_replay_event(device, programs);
  set_dispatches_reported(device);
  const std::uint32_t unknown = device.ledger->replay_trace(programs);
  if (unknown > 0) {
    publish(device.record->seq, [&] { increase(device.anomalies().unknown_programs, unknown); });
  }
  publish_cb_figures(device);
}

void ProgramTracker::write_replay_event(const TrackedDevice& device,
                                        std::span<const std::uint64_t> programs) noexcept {
  constexpr std::size_t per_record = sizeof(segment::EventRecord) / sizeof(std::uint64_t);
  constexpr std::size_t maximum = segment::kMaxEventDetails * per_record;
  if (!segment_.has_event_details() || programs.size() > maximum) return;
  const std::size_t records = (programs.size() + per_record - 1) / per_record;
  key_.assign(programs.begin(), programs.end());
  key_.resize(records * per_record);
  segment_.write_event({.type = segment::EventType::trace_replay,
                        .device_id = device.id,
                        .id = programs.size(),
                        .when_ns = process_.exact_time()},
                       key_.data(), static_cast<std::uint32_t>(records));
}

void ProgramTracker::set_dispatches_reported(TrackedDevice& device) noexcept {
  DeviceRecord& record = *device.record;
  if (record.resident_reported != 0) return;
  publish(record.seq, [&] { store(record.resident_reported, 1U); });
}

void ProgramTracker::destroy(std::uint64_t program) {
  devices_.for_each([&](TrackedDevice& device) { remove(device, program); });
}

void ProgramTracker::remove(TrackedDevice& device, std::uint64_t program) {
  ledger::Placement* placement = device.ledger->find(program);
  if (placement == nullptr) return;
  forget_program(device, *placement);
  publish_cb_figures(device);
}

// Returns the first word of the key of a footprint: the grid and the size of L1. The next words of
// the key are, for each CB, its address, its size, its flags with the number of its core ranges,
// and the ranges.
std::uint64_t ProgramTracker::first_word(const TrackedDevice& device) noexcept {
  return std::uint64_t{device.columns()} << 48 | std::uint64_t{device.rows()} << 32 |
         device.record->l1_bytes_per_core;
}

ledger::FootprintRef ProgramTracker::footprint_of(TrackedDevice& device,
                                                  std::span<const ttmem_cb> cbs) {
  key_.clear();
  key_.push_back(first_word(device));
  for (const ttmem_cb& cb : cbs) {
    const std::uint32_t ranges = cb.cores == nullptr ? 0 : cb.core_ranges;
    key_.push_back(cb.address);
    key_.push_back(cb.bytes);
    key_.push_back(std::uint64_t{cb.flags} << 32 | ranges);
    for (std::uint32_t i = 0; i < ranges; ++i) {
      key_.push_back(std::bit_cast<std::uint64_t>(cb.cores[i]));
    }
  }
  return footprints_.acquire(key_, [&] { return decode(device, key_); });
}

// Returns the CBs that a key describes, clipped to the L1 of the device's cores. A CB with an
// impossible address or size takes no bytes.
std::vector<ledger::Cb> ProgramTracker::decode(const TrackedDevice& device,
                                               std::span<const std::uint64_t> key) {
  const std::uint64_t l1_end =
      device.record->l1_bytes_per_core != 0 ? device.record->l1_bytes_per_core : kMaxCoreBytes;
  std::vector<ledger::Cb> result;
  for (std::size_t at = 1; at < key.size();) {
    ledger::Cb& cb = result.emplace_back();
    const std::uint64_t address = key[at++];
    const std::uint64_t bytes = key[at++];
    const std::uint64_t flags = key[at] >> 32;
    const std::size_t ranges = key[at++] & 0xffffffff;
    const bool possible = address <= kMaxCoreBytes && bytes <= kMaxCoreBytes;
    const std::uint64_t begin = possible ? std::min(address, l1_end) : 0;
    const std::uint64_t end = possible ? begin + std::min(bytes, l1_end - begin) : 0;
    cb.range = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
    cb.global = (flags & TTMEM_CB_GLOBAL) != 0;
    cb.clipped = begin != address || end - begin != bytes;
    for (const std::size_t stop = at + ranges; at < stop; ++at) {
      const auto range = std::bit_cast<ttmem_core_range>(key[at]);
      cb.clipped |= !device.mask_of({&range, 1}, cb.cores);
    }
  }
  return result;
}

void ProgramTracker::publish_footprint(ledger::Footprint& footprint) noexcept {
  const auto count = static_cast<std::uint32_t>(footprint.cbs.size());
  if (count == 0) return;
  try {
    footprint.first_record =
        count > segment::kMaxCbsPerProgram ? kNoSlot : segment_.acquire_cbs(count, now());
  } catch (const std::bad_alloc&) {
    footprint.first_record = kNoSlot;
  }
  if (footprint.first_record == kNoSlot) return;
  footprint.number = ++footprint_number_;
  for (std::uint32_t i = 0; i < count; ++i) {
    const ledger::Cb& cb = footprint.cbs[i];
    segment::CbRecord& record = segment_.cb(footprint.first_record + i);
    record.address = cb.range.begin;
    record.bytes = cb.range.length();
    record.flags = cb.global ? std::uint32_t{segment::kCbGlobal} : 0;
    record.cores = cb.cores;
    // Stores the number last: a reader that finds the number has a complete record.
    std::atomic_ref<std::uint64_t>(record.footprint)
        .store(footprint.number, std::memory_order_release);
  }
  if (segment_.has_event_details()) {
    // Writes all records with one call, because acquire_cbs() takes them from one chunk, where they
    // are adjacent in memory.
    segment_.write_event({.type = segment::EventType::footprint,
                          .id = footprint.number,
                          .bytes = count,
                          .when_ns = process_.exact_time()},
                         &segment_.cb(footprint.first_record), count);
  }
}

void ProgramTracker::retire_footprint(ledger::Footprint& footprint) noexcept {
  if (footprint.number == 0 || !process_.has_segment()) return;
  const auto count = static_cast<std::uint32_t>(footprint.cbs.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    store(segment_.cb(footprint.first_record + i).footprint, std::uint64_t{0});
  }
  // Orders the stores of the zeros before the stores of another footprint that uses the records
  // again.
  std::atomic_thread_fence(std::memory_order_release);
  try {
    segment_.release_cbs(footprint.first_record, count);
  } catch (const std::bad_alloc&) {
    // The records stay unused; nothing else depends on them.
  }
}

void ProgramTracker::publish_program(TrackedDevice& device, ledger::Placement& placement) {
  const std::uint64_t time = process_.exact_time();
  const ledger::Footprint& footprint = *placement.footprint.get();
  // Does not list a program whose CBs have no records, because the program would seem to have no
  // CBs.
  const bool can_be_listed = footprint.cbs.empty() || footprint.number != 0;
  if (!can_be_listed) clear_slot(placement);
  const bool is_new = placement.slot == kNoSlot;
  if (is_new && can_be_listed) placement.slot = segment_.acquire_program(time);
  if (placement.slot == kNoSlot) {
    increase(segment_.header().dropped_programs);
    return write_place_event(device, placement, time);
  }
  segment::ProgramSlot& slot = segment_.program(placement.slot);
  publish(slot.seq, [&] {
    slot.live = 1;
    if (is_new) {
      slot.born = segment_.next_event();
      slot.when_ns = time;
    }
    slot.program = placement.program;
    slot.footprint = footprint.number;
    slot.first_cb = footprint.first_record;
    slot.cb_count = static_cast<std::uint32_t>(footprint.cbs.size());
    slot.device = device.record_index;
    slot.resident_cores = placement.resident_cores;
    slot.name = placement.name;
    slot.scope = process_.scope();
  });
  write_place_event(device, placement, time);
  if (process_.observer() != nullptr) process_.observer()->program_placed(placement.slot);
}

void ProgramTracker::clear_slot(ledger::Placement& placement) {
  if (placement.slot == kNoSlot) return;
  segment::ProgramSlot& slot = segment_.program(placement.slot);
  publish(slot.seq, [&] { slot.live = 0; });
  if (process_.observer() != nullptr) process_.observer()->program_removed(placement.slot);
  segment_.release_program(placement.slot);
  placement.slot = kNoSlot;
}

void ProgramTracker::publish_cb_figures(TrackedDevice& device) noexcept {
  DeviceRecord& record = *device.record;
  const ledger::DeviceLedger& ledger = *device.ledger;
  segment::DeviceFigures& figures = record.figures;
  KindFigures& cbs = figures.kinds[Kind::cb];
  publish(record.seq, [&] {
    const std::uint64_t physical = ledger.physical_bytes() + figures.loose_cb_bytes;
    store(figures.l1_total_bytes, figures.l1_total_bytes - cbs.used_bytes + physical);
    store(cbs.used_bytes, physical);
    store(cbs.logical_bytes, ledger.logical_bytes() + figures.loose_cb_bytes);
    if (ledger.programs() > 0) {
      store(cbs.known, kAllFigures);
      store(record.programs_reported, 1U);
    }
    store(figures.cb_resident_bytes, ledger.resident_bytes());
    store(figures.programs, std::uint64_t{ledger.programs()});
    raise_peak(cbs.peak_bytes, cbs.used_bytes);
    raise_peak(figures.l1_total_peak_bytes, figures.l1_total_bytes);
  });
  const CoreMask changed = device.ledger->take_changed_cores();
  if (!changed.empty()) {
    publish(record.cores_seq, [&] {
      changed.for_each([&](std::uint32_t index) {
        const ledger::DeviceLedger::Core core = ledger.core(index);
        record.cores[index] = {core.cb_bytes, core.resident_bytes, core.cb_end, 0};
      });
    });
  }
  device.ledger->take_changed_programs([&](ledger::Placement& placement) {
    // Stores the field outside publish(slot.seq). Otherwise the slot of a program that is
    // dispatched all the time would always be torn.
    if (placement.slot != kNoSlot) {
      store(segment_.program(placement.slot).resident_cores, placement.resident_cores);
    }
  });
}

// The caller must publish the figures of the device afterwards.
void ProgramTracker::forget_program(TrackedDevice& device, ledger::Placement& placement,
                                    segment::DestroyFlags flags) {
  const std::uint64_t program = placement.program;
  const std::uint32_t slot = placement.slot;
  clear_slot(placement);
  segment_.write_event({.type = segment::EventType::program_destroy,
                        .kind = Kind::cb,
                        .flags = flags,
                        .device_id = device.id,
                        .id = program,
                        .bytes = placement.footprint->logical_bytes,
                        .slot = slot,
                        .when_ns = process_.exact_time()});
  device.ledger->remove(program);
}

void ProgramTracker::remove_all(TrackedDevice& device) {
  Observer* const observer = process_.observer();
  process_.set_observer(nullptr);
  std::vector<std::uint64_t> programs;
  programs.reserve(device.ledger->programs());
  device.ledger->for_each_program(
      [&](ledger::Placement& placement) { programs.push_back(placement.program); });
  for (std::uint64_t program : programs) {
    forget_program(device, *device.ledger->find(program), segment::kDeviceCloses);
  }
  publish_cb_figures(device);
  process_.set_observer(observer);
}

void ProgramTracker::renumber_cores(TrackedDevice& device) {
  const auto before = std::exchange(device.ledger, device.make_ledger());
  publish(device.record->cores_seq,
          [&] { std::memset(device.record->cores, 0, sizeof device.record->cores); });
  before->for_each_program([&](ledger::Placement& old) {
    key_ = old.footprint->key;
    key_[0] = first_word(device);
    device.ledger->place(old.program,
                         footprints_.acquire(key_, [&] { return decode(device, key_); }));
    ledger::Placement& placement = *device.ledger->find(old.program);
    placement.slot = old.slot;
    placement.name = old.name;
    publish_program(device, placement);
  });
  publish_cb_figures(device);
}

}  // namespace ttmem::tracker
