// SPDX-License-Identifier: Apache-2.0
//
// Buffers of a mesh: figures on each device, and one slot and one event for all devices.
#include <cstring>

#include "track/tracker/account.hpp"
#include "track/tracker/clock.hpp"

namespace ttmem::tracker {

template <typename Write>
[[gnu::always_inline]] inline void AllocationTracker::for_events(const DeviceMask& devices,
                                                                 std::uint32_t set, Write&& write) {
  if (set != 0) [[likely]] {
    return write(Location{set, true});
  }
  devices.for_each([&](std::uint32_t record) { write(Location{devices_.at(record).id}); });
}

void AllocationTracker::allocate_on(const DeviceMask& devices, std::uint32_t set,
                                    const AllocationRequest& request, std::uint64_t now_ns,
                                    Receipt& receipt) {
  fill_receipt(request, receipt);
  receipt.slot = set != 0 ? segment_.acquire_allocation(now_ns) : kNoSlot;
  if (receipt.slot == kNoSlot) increase(segment_.header().dropped_allocations);
  if (receipt.slot != kNoSlot) {
    write_slot({set, true}, request, receipt, segment_.next_event(), now_ns);
  }
  for_events(devices, set,
             [&](Location location) { write_alloc_event(location, request, receipt, now_ns); });
  devices.for_each(
      [&](std::uint32_t record) { account(segment_.device(record), receipt, Direction::add); });
}

// Changes or clears the slot before the event is written, as release() does, so that a reader that
// sees the event does not find the buffer on these devices.
void AllocationTracker::release_on(const DeviceMask& devices, std::uint32_t set,
                                   const DeviceMask& rest, Receipt& receipt, std::uint64_t now_ns) {
  const Receipt before = receipt;
  move_slot(rest, receipt);
  for_events(devices, set, [&](Location location) { write_free_event(location, before, now_ns); });
  devices.for_each(
      [&](std::uint32_t record) { account(segment_.device(record), receipt, Direction::remove); });
}

void AllocationTracker::release_on_at_close(TrackedDevice& device, const DeviceMask& rest,
                                            Receipt& receipt) {
  account(*device.record, receipt, Direction::remove);
  move_slot(rest, receipt);
  count_left_at_close(device, receipt);
}

// Changes the slot so that the buffer is on `devices`. Frees the slot if `devices` is empty. Also
// frees the slot if the segment has no room for another set of devices; the buffer is then in the
// figures and not in the list.
void AllocationTracker::move_slot(const DeviceMask& devices, Receipt& receipt) {
  if (receipt.slot == kNoSlot) return;
  const std::uint32_t set = devices.empty() ? 0 : devices_.set_number(devices);
  if (set != 0) {
    segment::AllocationSlot& slot = segment_.allocation(receipt.slot);
    publish(slot.seq, [&] { slot.device = set; });
    return;
  }
  if (!devices.empty()) increase(segment_.header().dropped_allocations);
  clear_slot(receipt);
  receipt.slot = kNoSlot;
}

bool AllocationTracker::is_on_cores(const Receipt& receipt) const noexcept {
  return receipt.slot != kNoSlot &&
         (segment_.allocation(receipt.slot).flags & segment::kNoCores) == 0;
}

Receipt AllocationTracker::split_off(TrackedDevice& device, const DeviceMask& rest,
                                     Receipt& receipt) {
  Receipt own = receipt;
  if (receipt.slot == kNoSlot) return own;
  own.slot = segment_.acquire_allocation(now());
  if (own.slot == kNoSlot) {
    increase(segment_.header().dropped_allocations);
  } else {
    const segment::AllocationSlot& from = segment_.allocation(receipt.slot);
    segment::AllocationSlot& to = segment_.allocation(own.slot);
    publish(to.seq, [&] {
      constexpr std::size_t seq_bytes = sizeof to.seq;
      std::memcpy(reinterpret_cast<char*>(&to) + seq_bytes,
                  reinterpret_cast<const char*>(&from) + seq_bytes, sizeof to - seq_bytes);
      to.device = device.record_index;
      to.flags &= static_cast<std::uint8_t>(~segment::kOnSet);
    });
  }
  move_slot(rest, receipt);
  if (receipt.slot != kNoSlot) rewrite_event(receipt.slot);
  if (own.slot != kNoSlot) rewrite_event(own.slot);
  return own;
}

}  // namespace ttmem::tracker
