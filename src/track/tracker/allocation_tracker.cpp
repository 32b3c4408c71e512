// SPDX-License-Identifier: Apache-2.0
//
// Allocations on one device. Buffers of a mesh are in mesh_allocations.cpp.
#include "track/tracker/account.hpp"
#include "track/tracker/clock.hpp"

namespace ttmem::tracker {

// Returns the number of the label among the texts, or 0 if there is no room for the label. Labels
// may not use the last 16384 texts, which are reserved for scopes and the names of programs.
std::uint32_t AllocationTracker::number_of_label(const char* label) noexcept {
  constexpr std::uint32_t kMaxLabels = segment::kMaxTexts - 16384;
  try {
    return process_.texts().number_of(label, kMaxLabels);
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

bool AllocationTracker::allocate(TrackedDevice& device, const AllocationRequest& request,
                                 std::uint64_t now_ns, Receipt& receipt) {
  if (!device.has_room(request.kind, request.used_bytes())) {
    device.count_bad_argument();
    return false;
  }
  fill_receipt(request, receipt);
  receipt.slot = segment_.acquire_allocation(now_ns);
  if (receipt.slot == kNoSlot) increase(segment_.header().dropped_allocations);

  if (receipt.slot != kNoSlot) {
    write_slot({device.record_index}, request, receipt, segment_.next_event(), now_ns);
  }
  write_alloc_event({device.id}, request, receipt, now_ns);
  account(*device.record, receipt, Direction::add);
  if (receipt.slot != kNoSlot && process_.observer() != nullptr) {
    process_.observer()->allocation_added(receipt.slot);
  }
  return true;
}

void AllocationTracker::release(TrackedDevice& device, const Receipt& receipt,
                                std::uint64_t now_ns) {
  // Clears the slot before the event is written, so that a reader that sees the event does not find
  // the allocation in the list.
  clear_slot(receipt);
  write_free_event({device.id}, receipt, now_ns);
  account(*device.record, receipt, Direction::remove);
  if (receipt.slot != kNoSlot && process_.observer() != nullptr) {
    process_.observer()->allocation_removed(receipt.slot);
  }
}

// Changes the allocation in its slot, so that the list never lacks the allocation, even if the
// process is killed.
void AllocationTracker::resize(TrackedDevice& device, const AllocationRequest& request,
                               Receipt& receipt, std::uint64_t now_ns) {
  if (!device.has_room(request.kind, request.bytes, receipt.used_bytes)) {
    return device.count_bad_argument();
  }
  account(*device.record, receipt, Direction::remove);
  receipt.used_bytes = request.bytes;
  receipt.logical_bytes = request.bytes;
  receipt.role = request.role & 3;
  receipt.is_estimate = request.is_estimate;
  account(*device.record, receipt, Direction::add);
  if (receipt.slot != kNoSlot) {
    write_slot({device.record_index}, request, receipt, segment_.allocation(receipt.slot).born,
               now_ns);
  }
  write_alloc_event({device.id}, request, receipt, now_ns);
  if (receipt.slot != kNoSlot && process_.observer() != nullptr) {
    process_.observer()->allocation_changed(receipt.slot);
  }
}

void AllocationTracker::rewrite_event(std::uint32_t index) noexcept {
  if (!segment_.has_event_details()) return;
  const segment::AllocationSlot& slot = segment_.allocation(index);
  const bool is_set = (slot.flags & segment::kOnSet) != 0;
  std::uint32_t where = slot.device;
  if (!is_set) {
    if (where >= segment_.device_count())
      return;  // happens only if the workload overwrote the slot
    where = devices_.at(where).id;
  }
  segment_.write_event({.type = is_set ? segment::EventType::set_alloc : segment::EventType::alloc,
                        .kind = static_cast<Kind>(slot.kind),
                        .flags = slot.flags,
                        .role = slot.role,
                        .device_id = where,
                        .id = slot.id,
                        .address = slot.address,
                        .bytes = slot.bytes,
                        .bytes_per_bank = slot.bytes_per_bank,
                        .banks = slot.banks,
                        .slot = index,
                        .when_ns = now()},
                       &slot.cores, 1);
}

void AllocationTracker::release_at_close(TrackedDevice& device, const Receipt& receipt) {
  account(*device.record, receipt, Direction::remove);
  clear_slot(receipt);
  count_left_at_close(device, receipt);
}

void AllocationTracker::count_left_at_close(TrackedDevice& device,
                                            const Receipt& receipt) noexcept {
  // Does not count persistent kernels, which stay loaded until the device closes.
  if (receipt.role != TTMEM_KERNEL_APP) return;
  publish(device.record->seq, [&] {
    increase(device.anomalies().left_at_close);
    increase(device.anomalies().left_at_close_bytes, receipt.used_bytes);
  });
}

// Converts only buffers that lie on some cores of this device alone, because only their slots
// contain core numbers of this grid. IdTracker has split off the parts of the buffers of meshes
// before.
void AllocationTracker::renumber_cores(TrackedDevice& device,
                                       std::uint32_t columns_before) noexcept {
  for (std::uint32_t i = 0; i < segment_.allocation_count(); ++i) {
    segment::AllocationSlot& slot = segment_.allocation(i);
    const bool concerned = slot.live != 0 && slot.device == device.record_index &&
                           (slot.flags & (segment::kNoCores | segment::kOnSet)) == 0;
    if (!concerned) continue;
    CoreMask cores;
    slot.cores.for_each([&](std::uint32_t core) {
      const std::uint32_t x = core % columns_before;
      const std::uint32_t y = core / columns_before;
      if (x < device.columns() && y < device.rows()) cores.set(y * device.columns() + x);
    });
    publish(slot.seq, [&] { slot.cores = cores; });
    rewrite_event(i);
    if (process_.observer() != nullptr) process_.observer()->allocation_changed(i);
  }
}

}  // namespace ttmem::tracker
