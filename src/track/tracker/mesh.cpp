// SPDX-License-Identifier: Apache-2.0
//
// Lists of devices, and buffers that lie on all devices of one: a figure on each device, one slot
// and one event for all.
#include <algorithm>
#include <cstring>
#include <tuple>

#include "track/tracker/account.hpp"

namespace ttmem::tracker {

// A list with a fault is looked up again each time, so that the fault is counted each time.
Mesh& Tracker::look_up(std::span<const std::uint32_t> list, KnownMesh& known) {
  Mesh& mesh = known.mesh;
  mesh = {};
  bool faultless = true;
  for (const std::uint32_t id : list) {
    Device* device = this->device(id);
    const bool twice = device != nullptr && mesh.devices.test(device->record_index);
    if (twice) device->count_bad_argument();
    faultless &= device != nullptr && !twice;
    if (device != nullptr && !twice) add_to(mesh, *device);
  }
  known.list.assign(list.begin(), list.end());
  known.shapes = faultless ? shapes_ : 0;
  return mesh;
}

void Tracker::add_to(Mesh& mesh, const Device& device) {
  const auto shape = [](const Device& of) {
    return std::tie(of.grid_x, of.grid_y, of.record->dram_channels);
  };
  mesh.devices.set(device.record_index);
  auto part = std::find_if(mesh.parts.begin(), mesh.parts.end(), [&](const MeshPart& one) {
    return shape(at(one.first)) == shape(device);
  });
  if (part == mesh.parts.end()) {
    part = mesh.parts.insert(part, MeshPart{{}, device.record_index, 0});
  }
  part->devices.set(device.record_index);
}

template <typename Write>
[[gnu::always_inline]] inline void Tracker::for_events(const DeviceMask& devices, std::uint32_t set,
                                                       Write&& write) {
  if (set != 0) [[likely]] {
    return write(Where{set, true});
  }
  devices.for_each([&](std::uint32_t record) { write(Where{at(record).id}); });
}

void Tracker::allocate_on(const DeviceMask& devices, std::uint32_t set, const Request& request,
                          std::uint64_t now_ns, Receipt& receipt) {
  fill_receipt(request, receipt);
  receipt.slot = set != 0 ? segment_->acquire_allocation(now_ns) : kNoSlot;
  if (receipt.slot == kNoSlot) increase(segment_->header().dropped_allocations);
  if (receipt.slot != kNoSlot) {
    write_slot({set, true}, request, receipt, segment_->next_event(), now_ns);
  }
  for_events(devices, set,
             [&](Where where) { write_alloc_event(where, request, receipt, now_ns); });
  devices.for_each(
      [&](std::uint32_t record) { account(segment_->device(record), receipt, Change::add); });
}

// Changes or clears the slot before it writes the event, as release() does.
void Tracker::release_on(const DeviceMask& devices, std::uint32_t set, const DeviceMask& rest,
                         Receipt& receipt, std::uint64_t now_ns) {
  const Receipt before = receipt;
  move_slot(rest, receipt);
  for_events(devices, set, [&](Where where) { write_free_event(where, before, now_ns); });
  devices.for_each(
      [&](std::uint32_t record) { account(segment_->device(record), receipt, Change::remove); });
}

void Tracker::release_on_at_close(Device& device, const DeviceMask& rest, Receipt& receipt) {
  account(*device.record, receipt, Change::remove);
  move_slot(rest, receipt);
  count_left_at_close(device, receipt);
}

// The slot is now that of a buffer on these devices. Frees it when there are none, or no room for
// another set: then the buffer is in the figures alone.
void Tracker::move_slot(const DeviceMask& devices, Receipt& receipt) {
  if (receipt.slot == kNoSlot) return;
  const std::uint32_t set = devices.empty() ? 0 : set_number(devices);
  if (set != 0) {
    segment::AllocationSlot& slot = segment_->allocation(receipt.slot);
    publish(slot.seq, [&] { slot.device = set; });
    return;
  }
  if (!devices.empty()) increase(segment_->header().dropped_allocations);
  clear_slot(receipt);
  receipt.slot = kNoSlot;
}

bool Tracker::is_on_cores(const Receipt& receipt) const noexcept {
  return receipt.slot != kNoSlot &&
         (segment_->allocation(receipt.slot).flags & segment::kNoCores) == 0;
}

Receipt Tracker::split_off(Device& device, const DeviceMask& rest, Receipt& receipt) {
  Receipt own = receipt;
  if (receipt.slot == kNoSlot) return own;
  own.slot = segment_->acquire_allocation(now());
  if (own.slot == kNoSlot) {
    increase(segment_->header().dropped_allocations);
  } else {
    const segment::AllocationSlot& from = segment_->allocation(receipt.slot);
    segment::AllocationSlot& to = segment_->allocation(own.slot);
    publish(to.seq, [&] {
      constexpr std::size_t seq_bytes = sizeof to.seq;
      std::memcpy(reinterpret_cast<char*>(&to) + seq_bytes,
                  reinterpret_cast<const char*>(&from) + seq_bytes, sizeof to - seq_bytes);
      to.device = device.record_index;
      to.flags &= static_cast<std::uint8_t>(~segment::kOnSet);
    });
  }
  move_slot(rest, receipt);
  if (receipt.slot != kNoSlot) tell_again(receipt.slot);
  if (own.slot != kNoSlot) tell_again(own.slot);
  return own;
}

}  // namespace ttmem::tracker
