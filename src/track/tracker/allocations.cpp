// SPDX-License-Identifier: Apache-2.0
//
// Buffers, kernels and CBs without an address: a figure, a live slot and an event each.
#include "track/tracker/account.hpp"

namespace ttmem::tracker {

// 0: the segment has no room for it. Leaves room for the names of programs.
std::uint32_t Tracker::number_of_label(const char* label) noexcept {
  constexpr std::uint32_t kMostLabels = segment::kMaxTexts - 16384;
  try {
    return texts_.number_of(label, kMostLabels);
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

bool Tracker::allocate(Device& device, const Request& request, std::uint64_t now_ns,
                       Receipt& receipt) {
  if (!device.has_room(request.kind, request.used_bytes())) {
    device.count_bad_argument();
    return false;
  }
  fill_receipt(request, receipt);
  receipt.slot = segment_->acquire_allocation(now_ns);
  if (receipt.slot == kNoSlot) increase(segment_->header().dropped_allocations);

  if (receipt.slot != kNoSlot) {
    write_slot({device.record_index}, request, receipt, segment_->next_event(), now_ns);
  }
  write_alloc_event({device.id}, request, receipt, now_ns);
  account(*device.record, receipt, Change::add);
  if (observer_ != nullptr && receipt.slot != kNoSlot) observer_->allocation_added(receipt.slot);
  return true;
}

void Tracker::release(Device& device, const Receipt& receipt, std::uint64_t now_ns) {
  // Clears the slot before it writes the event: a reader that sees the event finds no slot.
  clear_slot(receipt);
  write_free_event({device.id}, receipt, now_ns);
  account(*device.record, receipt, Change::remove);
  if (observer_ != nullptr && receipt.slot != kNoSlot) observer_->allocation_removed(receipt.slot);
}

// Keeps the slot, so that lists never miss the allocation, even if the process is killed.
void Tracker::resize(Device& device, const Request& request, Receipt& receipt,
                     std::uint64_t now_ns) {
  if (!device.has_room(request.kind, request.bytes, receipt.used_bytes)) {
    return device.count_bad_argument();
  }
  account(*device.record, receipt, Change::remove);
  receipt.used_bytes = request.bytes;
  receipt.logical_bytes = request.bytes;
  receipt.role = request.role & 3;
  receipt.is_estimate = request.is_estimate;
  account(*device.record, receipt, Change::add);
  if (receipt.slot != kNoSlot) {
    write_slot({device.record_index}, request, receipt, segment_->allocation(receipt.slot).born,
               now_ns);
  }
  write_alloc_event({device.id}, request, receipt, now_ns);
  if (observer_ != nullptr && receipt.slot != kNoSlot) observer_->allocation_changed(receipt.slot);
}

void Tracker::tell_again(std::uint32_t index) noexcept {
  if (!segment_->has_event_details()) return;
  const segment::AllocationSlot& slot = segment_->allocation(index);
  const bool is_set = (slot.flags & segment::kOnSet) != 0;
  std::uint32_t where = slot.device;
  if (!is_set) {
    if (where >= segment_->device_count()) return;  // the workload overwrote the slot
    where = at(where).id;
  }
  segment_->write_event({.type = is_set ? segment::EventType::set_alloc : segment::EventType::alloc,
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

void Tracker::release_at_close(Device& device, const Receipt& receipt) {
  account(*device.record, receipt, Change::remove);
  clear_slot(receipt);
  count_left_at_close(device, receipt);
}

void Tracker::count_left_at_close(Device& device, const Receipt& receipt) noexcept {
  if (receipt.role != TTMEM_KERNEL_APP) return;  // persistent: nobody unloads it before the close
  publish(device.record->seq, [&] {
    increase(device.anomalies().left_at_close);
    increase(device.anomalies().left_at_close_bytes, receipt.used_bytes);
  });
}

// The grid became known after buffers were allocated. Converts the core numbers of sharded buffers
// to those of the grid.
void Tracker::renumber_buffers(Device& device, std::uint32_t columns_before) noexcept {
  for (std::uint32_t i = 0; i < segment_->allocation_count(); ++i) {
    segment::AllocationSlot& slot = segment_->allocation(i);
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
    tell_again(i);
    if (observer_ != nullptr) observer_->allocation_changed(i);
  }
}

}  // namespace ttmem::tracker
