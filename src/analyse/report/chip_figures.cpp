// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/chip_figures.hpp"

#include <algorithm>
#include <tuple>

namespace ttmem::report {
namespace {

using recording::RecordedDevice;
using recording::RecordedRequest;
using recording::RowId;

constexpr bool is_bank_kind(Kind kind) { return kind <= Kind::trace; }
static_assert(kBankKinds == std::array{Kind::dram, Kind::l1, Kind::l1_small, Kind::trace});

void fill(std::uint64_t& known, std::uint64_t other) {
  if (known == 0) known = other;
}

}  // namespace

ChipFigures::ChipFigures(const Tables& tables, const RecordedChip& chip)
    : tables_(tables), chip_(chip), ends_(chip.cores(), 0) {
  for (const RowId row : chip.rows) {
    if (arch_.empty()) arch_ = tables.device(row).arch;
  }
}

void ChipFigures::open(const RecordedDevice& device) {
  open_.push_back({&device, nullptr});
  // Sorts in the collector's order, because the first process that states a limit determines this
  // limit.
  std::sort(open_.begin(), open_.end(), [&](const OpenDevice& a, const OpenDevice& b) {
    const auto key = [&](const RecordedDevice& of) {
      return std::tuple(tables_.process(of.process).pid, of.process, of.id);
    };
    return key(*a.device) < key(*b.device);
  });
  devices_changed();
}

void ChipFigures::close(const RecordedDevice& device) {
  std::erase_if(open_, [&](const OpenDevice& open) { return open.device == &device; });
  update_ends(device, CoreMask::first(kMaxCores));
  devices_changed();
}

void ChipFigures::devices_changed() {
  known_kinds_ = 0;
  limits_ = {};
  bool grids_known = true;
  for (const OpenDevice& open : open_) {
    const RecordedDevice& device = *open.device;
    known_kinds_ |= device.known_kinds;
    grids_known = grids_known && device.grid_x != 0 && device.grid_y != 0;
    fill(limits_.l1_bytes_per_core, device.l1_bytes_per_core);
    fill(limits_.l1_base, device.l1_base);
    fill(limits_.l1_small_bytes_per_core, device.l1_small_bytes_per_core);
  }
  limits_known_ = grids_known && limits_.l1_bytes_per_core != 0 && limits_.l1_base != 0;
  std::vector<collector::BankFacts> facts;
  for (const OpenDevice& open : open_) facts.push_back(collector::bank_facts(*open.device));
  std::erase(facts, collector::BankFacts{});
  banks_agree_ = std::all_of(facts.begin(), facts.end(),
                             [&](const auto& stated) { return stated == facts.front(); });
}

std::optional<Regions> ChipFigures::regions() const {
  for (const OpenDevice& open : open_) {
    const collector::BankFacts facts = collector::bank_facts(*open.device);
    if (facts != collector::BankFacts{}) return collector::regions_of(arch_, facts);
  }
  return std::nullopt;
}

void ChipFigures::note_all(const BufferPlaces& places, const Moment& at) {
  for (const Kind kind : kDeviceKinds) note_use(kind, at);
  for (const Kind kind : kBankKinds) note_free(kind, places, at);
  note_room(places, at);
}

void ChipFigures::allocate(const RecordedRequest& request, const BufferPlaces& places,
                           const Moment& at) {
  const Kind kind = request.kind;
  used_[kind] += request.used_bytes();
  known_kinds_ |= 1U << static_cast<unsigned>(kind);
  note_use(kind, at);
  if (is_bank_kind(kind)) note_free(kind, places, at);
  if (kind == Kind::l1) note_room(places, at);
  if (kind == Kind::cb) ++loose_cbs_;
  if (kind == Kind::l1_small) {
    small_bytes_per_core_ += request.bytes_per_bank;
    small_per_core_.raise(static_cast<std::int64_t>(small_bytes_per_core_), at);
  }
}

void ChipFigures::free(const RecordedRequest& request, const BufferPlaces& places,
                       const Moment& at) {
  const Kind kind = request.kind;
  used_[kind] -= request.used_bytes();
  if (kind == Kind::cb) --loose_cbs_;
  if (kind == Kind::l1_small) small_bytes_per_core_ -= request.bytes_per_bank;
  // Notes the free space after the removal too. The removed buffer may have been the reason why the
  // free space was unknown.
  if (is_bank_kind(kind)) note_free(kind, places, at);
  if (kind == Kind::trace) note_free(Kind::dram, places, at);
  if (kind == Kind::l1_small) note_free(Kind::l1, places, at);
}

void ChipFigures::programs_changed(const RecordedDevice& device, ledger::DeviceLedger* ledger,
                                   std::uint64_t before, const BufferPlaces& places,
                                   const Moment& at) {
  used_[Kind::cb] += (ledger != nullptr ? ledger->physical_bytes() : 0) - before;
  for (OpenDevice& open : open_) {
    if (open.device == &device) open.ledger = ledger;
  }
  if (ledger != nullptr && ledger->programs() > 0) {
    known_kinds_ |= 1U << static_cast<unsigned>(Kind::cb);
  }
  const CoreMask changed =
      ledger != nullptr ? ledger->take_changed_cores() : CoreMask::first(kMaxCores);
  if (!changed.empty()) update_ends(device, changed);
  note_use(Kind::cb, at);
  note_room(places, at);
}

void ChipFigures::update_ends(const RecordedDevice& device, const CoreMask& changed) {
  const CoreMask grid = CoreMask::first(static_cast<std::uint32_t>(ends_.size()));
  (cores_on_chip(chip_, device, changed) & grid).for_each([&](std::uint32_t core) {
    ends_[core] = end_on(core);
  });
  all_ends_ = ends_on(grid);
}

// Returns the end of circular buffers on a core, over all processes. Processes may see different
// grids.
std::uint64_t ChipFigures::end_on(std::uint32_t core) const {
  std::uint64_t end = 0;
  for (const OpenDevice& open : open_) {
    if (open.ledger == nullptr) continue;
    const RecordedDevice& device = *open.device;
    std::uint32_t there = core;
    if (device.grid_x != 0 && device.grid_x != chip_.grid_x) {
      const std::uint32_t x = core % chip_.grid_x;
      if (x >= device.grid_x) continue;
      there = core / chip_.grid_x * device.grid_x + x;
    }
    if (device.grid_y != 0 && there >= std::uint32_t{device.grid_x} * device.grid_y) continue;
    end = std::max(end, std::uint64_t{open.ledger->core(there).cb_end});
  }
  return end;
}

ChipFigures::Ends ChipFigures::ends_on(const CoreMask& cores) const {
  Ends ends{0, false};
  cores.for_each([&](std::uint32_t core) {
    if (core >= ends_.size()) return;
    ends.highest = std::max(ends.highest, ends_[core]);
    ends.some_empty = ends.some_empty || ends_[core] == 0;
  });
  return ends;
}

void ChipFigures::note_use(Kind kind, const Moment& at) {
  if (open_.empty()) return;
  if (knows(kind)) peaks_[kind].raise(static_cast<std::int64_t>(used_[kind]), at);
  if (!is_in_l1(kind) || !knows(Kind::l1)) return;
  const std::uint64_t l1 =
      used_[Kind::l1] + used_[Kind::l1_small] + used_[Kind::cb] + used_[Kind::kernel];
  l1_peak_.raise(static_cast<std::int64_t>(l1), at);
}

void ChipFigures::note_free(Kind kind, const BufferPlaces& places, const Moment& at) {
  if (open_.empty() || !banks_agree_ || !regions_fit_ || !knows(kind)) return;
  if (const auto largest = places.largest_free(kind)) {
    largest_free_[kind].lower(static_cast<std::int64_t>(*largest), at);
  }
}

void ChipFigures::note_room(const BufferPlaces& places, const Moment& at) {
  if (open_.empty() || !limits_known_ || loose_cbs_ > 0) return;
  if (!knows(Kind::l1) || !knows(Kind::cb)) return;
  headroom_.lower(least_room(places.lowest_l1()), at);
}

std::int64_t ChipFigures::room_below(std::uint64_t top, const Ends& ends) const {
  const std::uint64_t end =
      ends.some_empty ? std::max(ends.highest, limits_.l1_base) : ends.highest;
  return static_cast<std::int64_t>(top) - static_cast<std::int64_t>(end);
}

// Returns the least headroom of all cores, by the rules of collector::headroom().
std::int64_t ChipFigures::least_room(const LowestBuffers& lowest) const {
  const std::uint64_t top = limits_.l1_bytes_per_core - limits_.l1_small_bytes_per_core;
  const std::optional<std::uint64_t> everywhere = lowest.on_every_core();
  if (!lowest.has_own_banks()) return room_below(everywhere.value_or(top), all_ends_);
  CoreMask empty = CoreMask::first(static_cast<std::uint32_t>(ends_.size()));
  std::optional<std::int64_t> least;
  const auto offer = [&](std::int64_t room) { least = std::min(least.value_or(room), room); };
  if (everywhere) offer(room_below(*everywhere, all_ends_));
  lowest.for_each_own([&](const CoreMask& cores, std::uint64_t address) {
    offer(room_below(address, ends_on(cores)));
    empty = empty - cores;
  });
  if (!everywhere && !empty.empty()) offer(room_below(top, ends_on(empty)));
  return least.value_or(room_below(top, all_ends_));
}

}  // namespace ttmem::report
