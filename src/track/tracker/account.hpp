// SPDX-License-Identifier: Apache-2.0
//
// Writes an allocation into the segment: into the figures of a device, a slot, and an event. These
// functions are inlined into the calls for one device (allocation_tracker.cpp) and into the calls
// for a mesh (mesh_allocations.cpp).
#pragma once

#include <cstring>

#include "track/tracker/allocation_tracker.hpp"

namespace ttmem::tracker {

[[gnu::always_inline]] inline void AllocationTracker::account(DeviceRecord& record,
                                                              const Receipt& receipt,
                                                              Direction direction) noexcept {
  const Kind kind = receipt.kind;
  segment::DeviceFigures& all = record.figures;
  KindFigures& figures = all.kinds[kind];
  // Forced inline. Otherwise the compiler makes one function that all callers share, which costs 2
  // ns.
  const auto change_figures = [&]() __attribute__((always_inline)) {
    const bool add = direction == Direction::add;
    const auto change = [add](std::uint64_t& figure, std::uint64_t by) {
      store(figure, add ? figure + by : figure - by);
    };
    change(figures.used_bytes, receipt.used_bytes);
    change(figures.logical_bytes, receipt.logical_bytes);
    change(figures.live, 1);
    change(figures.unsized, receipt.is_unsized ? 1 : 0);
    increase(add ? figures.allocations : figures.frees);
    if (add) {
      raise_peak(figures.peak_bytes, figures.used_bytes);
      store(figures.known, kAllFigures);
    }
    if (kind == Kind::kernel) {
      change(all.kernel_role_bytes[receipt.role], receipt.used_bytes);
      if (receipt.is_estimate) change(all.kernel_estimated_bytes, receipt.used_bytes);
    }
    if (!is_in_l1(kind)) return;
    if (kind == Kind::cb) change(all.loose_cb_bytes, receipt.used_bytes);
    change(all.l1_total_bytes, receipt.used_bytes);
    if (add) raise_peak(all.l1_total_peak_bytes, all.l1_total_bytes);
  };
  publish(record.seq, change_figures);
}

[[gnu::always_inline]] inline std::uint8_t AllocationTracker::flags_of(
    Location location, const AllocationRequest& request) noexcept {
  return static_cast<std::uint8_t>((request.has_cores ? 0 : segment::kNoCores) |
                                   (request.bytes_per_bank == 0 ? segment::kPerBankUnknown : 0) |
                                   (request.has_address ? 0 : segment::kNoAddress) |
                                   (request.has_own_banks ? segment::kOwnBanks : 0) |
                                   (request.is_estimate ? segment::kEstimate : 0) |
                                   (location.is_set ? segment::kOnSet : 0));
}

[[gnu::always_inline]] inline void AllocationTracker::write_slot(Location location,
                                                                 const AllocationRequest& request,
                                                                 const Receipt& receipt,
                                                                 std::uint64_t born,
                                                                 std::uint64_t now_ns) noexcept {
  segment::AllocationSlot& slot = segment_.allocation(receipt.slot);
  // In a scope, the last bytes of `label` hold the number of the scope.
  const std::uint32_t scope = process_.scope();
  const std::size_t room = sizeof slot.label - (scope != 0 ? sizeof scope : 0);
  const bool is_long = request.label != nullptr && ::strnlen(request.label, room + 1) > room;
  const std::uint32_t text = is_long ? number_of_label(request.label) : 0;
  publish(slot.seq, [&] {
    slot.live = 1;
    slot.kind = static_cast<std::uint8_t>(request.kind);
    slot.flags = static_cast<std::uint8_t>(flags_of(location, request) |
                                           (text != 0 ? segment::kLongLabel : 0) |
                                           (scope != 0 ? segment::kScoped : 0));
    slot.role = request.role | request.layout;
    slot.born = born;
    slot.when_ns = now_ns;
    slot.id = request.id;
    slot.address = request.address;
    slot.bytes = request.bytes;
    slot.bytes_per_bank = request.bytes_per_bank;
    slot.banks = request.banks;
    slot.device = location.number;
    if (request.has_cores) {
      slot.cores = request.cores;
    } else {
      // Stores the fields of segment::Pages in `cores`. The other words of `cores` keep their old
      // contents.
      slot.cores.words[0] = request.page_bytes;
      slot.cores.words[1] = request.shard_banks;
    }
    if (text != 0) {
      std::memcpy(slot.label, &text, sizeof text);
    } else if (is_long) {
      shorten_text(slot.label, request.label);
    } else {
      copy_text(slot.label, request.label);
    }
    if (scope != 0) std::memcpy(slot.label + room, &scope, sizeof scope);
  });
}

// Call this function after the slot was written, because the event copies its details from the last
// fields of the slot.
[[gnu::always_inline]] inline void AllocationTracker::write_alloc_event(
    Location location, const AllocationRequest& request, const Receipt& receipt,
    std::uint64_t now_ns) noexcept {
  segment::SegmentWriter::Event event{
      .type = location.is_set ? segment::EventType::set_alloc : segment::EventType::alloc,
      .kind = request.kind,
      .flags = flags_of(location, request),
      .role = static_cast<std::uint8_t>(request.role | request.layout),
      .device_id = location.number,
      .id = request.id,
      .address = request.address,
      .bytes = request.bytes,
      .bytes_per_bank = request.bytes_per_bank,
      .banks = request.banks,
      .slot = receipt.slot,
      .when_ns = now_ns};
  if (!segment_.has_event_details()) [[likely]] {
    return segment_.write_event(event);
  }
  if (receipt.slot == kNoSlot) {
    constexpr segment::AllocationDetails none{};
    return segment_.write_event(event, &none, 1);
  }
  const segment::AllocationSlot& slot = segment_.allocation(receipt.slot);
  event.flags = slot.flags;
  segment_.write_event(event, &slot.cores, 1);
}

[[gnu::always_inline]] inline void AllocationTracker::write_free_event(
    Location location, const Receipt& receipt, std::uint64_t now_ns) noexcept {
  segment_.write_event(
      {.type = location.is_set ? segment::EventType::set_free : segment::EventType::free,
       .kind = receipt.kind,
       .device_id = location.number,
       .id = receipt.id,
       .bytes = receipt.logical_bytes,
       .slot = receipt.slot,
       .when_ns = now_ns});
}

[[gnu::always_inline]] inline void AllocationTracker::clear_slot(const Receipt& receipt) {
  if (receipt.slot == kNoSlot) return;
  segment::AllocationSlot& slot = segment_.allocation(receipt.slot);
  publish(slot.seq, [&] { slot.live = 0; });
  segment_.release_allocation(receipt.slot);
}

[[gnu::always_inline]] inline void AllocationTracker::fill_receipt(const AllocationRequest& request,
                                                                   Receipt& receipt) noexcept {
  receipt.id = request.id;
  receipt.used_bytes = request.used_bytes();
  receipt.logical_bytes = request.bytes;
  receipt.kind = request.kind;
  receipt.role = request.role & 3;  // the bit-field has two bits
  receipt.is_unsized =
      !request.is_sized() && request.kind != Kind::kernel && request.kind != Kind::cb;
  receipt.is_estimate = request.is_estimate;
}

}  // namespace ttmem::tracker
