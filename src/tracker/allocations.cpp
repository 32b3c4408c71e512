// SPDX-License-Identifier: Apache-2.0
//
// Buffers, kernels and CBs without an address: a figure, a live slot and an event each.
#include "tracker/tracker.hpp"

namespace ttmem::tracker {

[[gnu::always_inline]] inline void Tracker::account(Device& device, const Receipt& receipt,
                                                    Change direction) noexcept {
  const Kind kind = receipt.kind;
  DeviceRecord& record = *device.record;
  segment::DeviceFigures& all = record.figures;
  KindFigures& figures = all.kinds[kind];
  // Forced inline: the compiler would make it a function that all callers share (2 ns).
  const auto change_figures = [&]() __attribute__((always_inline)) {
    const bool add = direction == Change::add;
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

[[gnu::always_inline]] inline void Tracker::write_slot(Device& device, const Request& request,
                                                       const Receipt& receipt, std::uint64_t born,
                                                       std::uint64_t now_ns) noexcept {
  segment::AllocationSlot& slot = segment_->allocation(receipt.slot);
  const bool is_long = request.label != nullptr &&
                       ::strnlen(request.label, sizeof slot.label + 1) > sizeof slot.label;
  const std::uint32_t text = is_long ? number_of_label(request.label) : 0;
  publish(slot.seq, [&] {
    slot.live = 1;
    slot.kind = static_cast<std::uint8_t>(request.kind);
    slot.flags = static_cast<std::uint8_t>(
        (request.has_cores ? 0 : segment::kNoCores) |
        (request.bytes_per_bank == 0 ? segment::kPerBankUnknown : 0) |
        (request.has_address ? 0 : segment::kNoAddress) |
        (request.has_own_banks ? segment::kOwnBanks : 0) |
        (request.is_estimate ? segment::kEstimate : 0) | (text != 0 ? segment::kLongLabel : 0));
    slot.role = request.role;
    slot.born = born;
    slot.when_ns = now_ns;
    slot.id = request.id;
    slot.address = request.address;
    slot.bytes = request.bytes;
    slot.bytes_per_bank = request.bytes_per_bank;
    slot.banks = request.banks;
    slot.device = device.record_index;
    if (request.has_cores) slot.cores = request.cores;
    if (text != 0) {
      std::memcpy(slot.label, &text, sizeof text);
    } else if (is_long) {
      shorten_text(slot.label, request.label);
    } else {
      copy_text(slot.label, request.label);
    }
  });
}

// 0: the segment has no room for it. Leaves room for the names of programs.
std::uint32_t Tracker::number_of_label(const char* label) noexcept {
  constexpr std::uint32_t kMostLabels = segment::kMaxTexts - 16384;
  try {
    return texts_.number_of(label, kMostLabels);
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

[[gnu::always_inline]] inline void Tracker::clear_slot(const Receipt& receipt) {
  if (receipt.slot == kNoSlot) return;
  segment::AllocationSlot& slot = segment_->allocation(receipt.slot);
  publish(slot.seq, [&] { slot.live = 0; });
  segment_->release_allocation(receipt.slot);
}

bool Tracker::allocate(Device& device, const Request& request, std::uint64_t now_ns,
                       Receipt& receipt) {
  if (!device.has_room(request.kind, request.used_bytes())) {
    device.count_bad_argument();
    return false;
  }
  receipt.id = request.id;
  receipt.used_bytes = request.used_bytes();
  receipt.logical_bytes = request.bytes;
  receipt.kind = request.kind;
  receipt.role = request.role & 3;  // the bit-field has two bits
  receipt.is_unsized =
      !request.is_sized() && request.kind != Kind::kernel && request.kind != Kind::cb;
  receipt.is_estimate = request.is_estimate;
  receipt.slot = segment_->acquire_allocation(now_ns);
  if (receipt.slot == kNoSlot) increase(segment_->header().dropped_allocations);

  const std::uint64_t born =
      segment_->write_event(segment::EventType::alloc, request.kind, device.record->id, request.id,
                            request.address, request.bytes, now_ns);
  account(device, receipt, Change::add);
  if (receipt.slot == kNoSlot) return true;
  write_slot(device, request, receipt, born, now_ns);
  if (observer_ != nullptr) observer_->allocation_added(receipt.slot);
  return true;
}

void Tracker::release(Device& device, const Receipt& receipt, std::uint64_t now_ns) {
  // Clears the slot before it writes the event: a reader that sees the event finds no slot.
  clear_slot(receipt);
  segment_->write_event(segment::EventType::free, receipt.kind, device.record->id, receipt.id, 0,
                        receipt.logical_bytes, now_ns);
  account(device, receipt, Change::remove);
  if (observer_ != nullptr && receipt.slot != kNoSlot) observer_->allocation_removed(receipt.slot);
}

// Keeps the slot, so that lists never miss the allocation, even if the process is killed.
void Tracker::resize(Device& device, const Request& request, Receipt& receipt,
                     std::uint64_t now_ns) {
  if (!device.has_room(request.kind, request.bytes, receipt.used_bytes)) {
    return device.count_bad_argument();
  }
  segment_->write_event(segment::EventType::alloc, request.kind, device.record->id, request.id,
                        request.address, request.bytes, now_ns);
  account(device, receipt, Change::remove);
  receipt.used_bytes = request.bytes;
  receipt.logical_bytes = request.bytes;
  receipt.role = request.role & 3;
  receipt.is_estimate = request.is_estimate;
  account(device, receipt, Change::add);
  if (receipt.slot == kNoSlot) return;
  write_slot(device, request, receipt, segment_->allocation(receipt.slot).born, now_ns);
  if (observer_ != nullptr) observer_->allocation_changed(receipt.slot);
}

void Tracker::release_at_close(Device& device, const Receipt& receipt) {
  account(device, receipt, Change::remove);
  clear_slot(receipt);
  if (receipt.role != TTMEM_KERNEL_APP) return;  // persistent: nobody unloads it before the close
  publish(device.record->seq, [&] {
    increase(device.anomalies().left_at_close);
    increase(device.anomalies().left_at_close_bytes, receipt.used_bytes);
  });
}

// The grid became known after buffers were allocated. Converts the core numbers of sharded buffers
// to those of the grid.
void Tracker::renumber_buffers(Device& device, std::uint32_t columns_before) noexcept {
  for (std::uint32_t i = 0; i < segment_->header().allocation_count; ++i) {
    segment::AllocationSlot& slot = segment_->allocation(i);
    const bool concerned = slot.live != 0 && slot.device == device.record_index &&
                           (slot.flags & segment::kNoCores) == 0;
    if (!concerned) continue;
    CoreMask cores;
    slot.cores.for_each([&](std::uint32_t core) {
      const std::uint32_t x = core % columns_before;
      const std::uint32_t y = core / columns_before;
      if (x < device.columns() && y < device.rows()) cores.set(y * device.columns() + x);
    });
    publish(slot.seq, [&] { slot.cores = cores; });
    if (observer_ != nullptr) observer_->allocation_changed(i);
  }
}

}  // namespace ttmem::tracker
