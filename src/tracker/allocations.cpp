// SPDX-License-Identifier: Apache-2.0
//
// Buffers, kernels and CBs without an address: a figure, a live slot and an event each.
#include <cassert>
#include <utility>

#include "base/raw_enum.hpp"
#include "tracker/device.hpp"
#include "tracker/tracker.hpp"

namespace ttmem::tracker {
namespace {

// No sum of one kind goes beyond this, so that none wraps around, and the four kinds in L1 together
// do not either.
constexpr std::uint64_t kAbsurdTotal = 1ULL << 61;
static_assert(kMaxBytes * kMaxBanks < kAbsurdTotal);

}  // namespace

// What a call asks for, with its banks worked out.
struct Tracker::Request {
  Kind kind = Kind::dram;
  std::uint8_t role = TTMEM_KERNEL_APP;
  std::uint64_t id = 0;
  std::uint64_t address = 0;
  bool has_address = false;
  bool is_estimate = false;
  std::uint64_t bytes = 0;
  std::uint64_t bytes_per_bank = 0;  // 0: unknown
  std::uint32_t banks = 0;           // 0: unknown
  const CoreMask* cores = nullptr;   // null: every bank, or some of DRAM's
  const char* label = nullptr;

  [[nodiscard]] bool is_sized() const noexcept { return bytes_per_bank != 0 && banks != 0; }
  [[nodiscard]] std::uint64_t used_bytes() const noexcept {
    return is_sized() ? bytes_per_bank * banks : bytes;
  }
};

// False: the call cannot be meant, and is counted. The mask is for the request to refer to.
[[gnu::always_inline]] inline bool Tracker::understand(Device& device, const ttmem_buffer& buffer,
                                                       CoreMask& cores, Request& request) {
  const std::uint32_t type = raw_value(buffer.type);
  const bool ends = buffer.bytes_per_bank <= ~buffer.address;  // before addresses begin again
  if (type >= kBufferKinds.size() || buffer.bytes > kMaxBytes ||
      buffer.bytes_per_bank > kMaxBytes || !ends) {
    device.count_bad_argument();
    return false;
  }
  request.kind = kBufferKinds[type];
  request.id = buffer.id != 0 ? buffer.id : buffer.address;
  request.address = buffer.address;
  request.has_address = true;
  request.bytes = buffer.bytes;
  request.bytes_per_bank = buffer.bytes_per_bank;
  request.label = buffer.label;
  if (buffer.cores == nullptr || buffer.core_ranges == 0) {
    request.banks = device.banks_of(request.kind);
    return true;
  }
  return understand_cores(device, {buffer.cores, buffer.core_ranges}, cores, request);
}

bool Tracker::understand_cores(Device& device, std::span<const ttmem_core_range> ranges,
                               CoreMask& cores, Request& request) {
  if (!is_in_dram(request.kind)) {
    if (!device.mask_of(ranges, cores)) device.count_bad_argument();
    request.banks = cores.count();
    request.cores = &cores;
    return true;
  }
  // The "cores" of a sharded DRAM buffer are banks, not places on the compute grid: their number
  // counts.
  std::uint64_t banks = 0;
  for (const ttmem_core_range& range : ranges) {
    const bool ordered = range.x0 <= range.x1 && range.y0 <= range.y1;
    if (!ordered) device.count_bad_argument();
    if (ordered) banks += std::uint64_t{range.x1 - range.x0 + 1U} * (range.y1 - range.y0 + 1U);
  }
  if (banks > kMaxBanks) {
    device.count_bad_argument();
    return false;
  }
  request.banks = static_cast<std::uint32_t>(banks);
  return true;
}

void Tracker::buffer_alloc(std::uint32_t id, const ttmem_buffer& buffer) {
  Device* device = this->device(id);
  if (device == nullptr) return;
  CoreMask cores;
  Request request;
  if (understand(*device, buffer, cores, request)) allocate(*device, request);
}

void Tracker::buffer_free(std::uint32_t id, std::uint32_t type, std::uint64_t buffer) {
  Device* device = this->device(id);
  if (device == nullptr) return;
  if (type >= kBufferKinds.size()) return device->count_bad_argument();
  release(*device, kBufferKinds[type], buffer);
}

bool Tracker::take_buffer(std::uint32_t id, const ttmem_buffer& buffer, std::uint64_t now_ns,
                          Receipt& receipt) {
  Device* device = this->device(id);
  if (device == nullptr) return false;
  CoreMask cores;
  Request request;
  if (!understand(*device, buffer, cores, request)) return false;
  if (!has_room(*device, request)) {
    device->count_bad_argument();
    return false;
  }
  enter(*device, request, now_ns, receipt);
  return true;
}

void Tracker::give_buffer(std::uint32_t id, std::uint64_t buffer, const Receipt& receipt,
                          std::uint64_t now_ns) {
  Device* device = find(id);
  assert(device != nullptr && device->is_open());
  remove(*device, buffer, receipt, now_ns);
}

void Tracker::count_alloc_over_live(std::uint32_t id) {
  Device* device = this->device(id);
  if (device != nullptr) device->count_alloc_over_live();
}

bool Tracker::kernel_load(std::uint32_t id, std::uint64_t kernel, std::uint64_t bytes,
                          std::uint32_t role, bool is_estimate) {
  Device* device = this->device(id);
  if (device == nullptr) return false;
  if (role > TTMEM_KERNEL_DISPATCH || bytes > kMaxBytes) {
    device->count_bad_argument();
    return device->live[Kind::kernel].find(kernel) != nullptr;
  }
  Request request;
  request.kind = Kind::kernel;
  request.role = static_cast<std::uint8_t>(role);
  request.is_estimate = is_estimate;
  request.id = kernel;
  request.bytes = bytes;
  // A kernel that was evicted and comes back is no anomaly: it is the same one, perhaps resized.
  LiveAllocation* live = device->live[Kind::kernel].find(kernel);
  if (live == nullptr) return allocate(*device, request);
  resize(*device, request, *live);
  return true;
}

void Tracker::kernel_unload(std::uint32_t id, std::uint64_t kernel) {
  Device* device = this->device(id);
  if (device != nullptr) release(*device, Kind::kernel, kernel);
}

bool Tracker::cb_alloc(std::uint32_t id, std::uint64_t cb, std::uint64_t bytes) {
  Device* device = this->device(id);
  if (device == nullptr) return false;
  if (bytes > kMaxBytes) {
    device->count_bad_argument();
    return device->live[Kind::cb].find(cb) != nullptr;
  }
  Request request;
  request.kind = Kind::cb;
  request.id = cb;
  request.bytes = bytes;
  LiveAllocation* live = device->live[Kind::cb].find(cb);
  if (live == nullptr) return allocate(*device, request);
  if (live->reports < 0xffff) ++live->reports;
  if (bytes > live->used_bytes) resize(*device, request, *live);
  return true;
}

void Tracker::cb_free(std::uint32_t id, std::uint64_t cb) {
  Device* device = this->device(id);
  if (device == nullptr) return;
  LiveAllocation* live = device->live[Kind::cb].find(cb);
  if (live != nullptr && live->reports > 1) {
    --live->reports;
  } else {
    release(*device, Kind::cb, cb);
  }
}

[[gnu::always_inline]] inline bool Tracker::allocate(Device& device, const Request& request) {
  if (!has_room(device, request)) {
    device.count_bad_argument();
    return false;
  }
  auto [entry, is_new] = device.live[request.kind].insert(request.id);
  if (!is_new) {
    device.count_alloc_over_live();
    release(device, request.kind, request.id);
    entry = device.live[request.kind].insert(request.id).first;
  }
  enter(device, request, now(), *entry);
  return true;
}

[[gnu::always_inline]] inline void Tracker::release(Device& device, Kind kind, std::uint64_t id) {
  LiveAllocation* live = device.live[kind].find(id);
  if (live == nullptr) {
    publish(device.record->seq, [&] { increase(device.anomalies().unknown_frees); });
    return;
  }
  remove(device, id, *live, now());
  device.live[kind].erase(live);
}

// Whether the sum stays one that can be, when so much of it goes first.
[[gnu::always_inline]] inline bool Tracker::has_room(const Device& device, const Request& request,
                                                     std::uint64_t freed_bytes) noexcept {
  const std::uint64_t left = device.figures().kinds[request.kind].used_bytes - freed_bytes;
  return left <= kAbsurdTotal - request.used_bytes();
}

[[gnu::always_inline]] inline void Tracker::enter(Device& device, const Request& request,
                                                  std::uint64_t now_ns, Receipt& receipt) {
  receipt.used_bytes = request.used_bytes();
  receipt.logical_bytes = request.bytes;
  receipt.kind = request.kind;
  receipt.role = request.role & 3;  // as many bits as there are
  receipt.is_unsized =
      !request.is_sized() && request.kind != Kind::kernel && request.kind != Kind::cb;
  receipt.is_estimate = request.is_estimate;
  receipt.slot = segment_->take_allocation(now_ns);
  if (receipt.slot == kNoSlot) increase(segment_->header().dropped_allocations);

  const std::uint64_t born =
      segment_->write_event(segment::EventType::kAlloc, request.kind, device.record->id, request.id,
                            request.address, request.bytes, now_ns);
  account(device, receipt, Change::kAdd);
  if (receipt.slot == kNoSlot) return;
  write_slot(device, request, receipt, born, now_ns);
  if (observer_ != nullptr) observer_->allocation_added(receipt.slot);
}

[[gnu::always_inline]] inline void Tracker::remove(Device& device, std::uint64_t id,
                                                   const Receipt& receipt, std::uint64_t now_ns) {
  // The slot goes before the event: who counts events up to this one finds it gone.
  clear_slot(receipt);
  segment_->write_event(segment::EventType::kFree, receipt.kind, device.record->id, id, 0,
                        receipt.logical_bytes, now_ns);
  account(device, receipt, Change::kRemove);
  if (observer_ != nullptr && receipt.slot != kNoSlot) observer_->allocation_removed(receipt.slot);
}

// What is live already has another size now. Its slot stays: it is in every list, and after a kill.
void Tracker::resize(Device& device, const Request& request, LiveAllocation& live) {
  if (!has_room(device, request, live.used_bytes)) return device.count_bad_argument();
  const std::uint64_t time = now();
  segment_->write_event(segment::EventType::kAlloc, request.kind, device.record->id, request.id,
                        request.address, request.bytes, time);
  account(device, live, Change::kRemove);
  live.used_bytes = request.bytes;
  live.logical_bytes = request.bytes;
  live.role = request.role & 3;
  live.is_estimate = request.is_estimate;
  account(device, live, Change::kAdd);
  if (live.slot == kNoSlot) return;
  write_slot(device, request, live, segment_->allocation(live.slot).born, time);
  if (observer_ != nullptr) observer_->allocation_changed(live.slot);
}

[[gnu::always_inline]] inline void Tracker::account(Device& device, const Receipt& receipt,
                                                    Change direction) noexcept {
  const Kind kind = receipt.kind;
  DeviceRecord& record = *device.record;
  segment::DeviceFigures& all = record.figures;
  KindFigures& figures = all.kinds[kind];
  // Inlined by force: the compiler would make one function of it for all who come here (2 ns).
  const auto change_figures = [&]() __attribute__((always_inline)) {
    const bool add = direction == Change::kAdd;
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
  publish(slot.seq, [&] {
    slot.live = 1;
    slot.kind = static_cast<std::uint8_t>(request.kind);
    slot.flags =
        static_cast<std::uint8_t>((request.cores == nullptr ? segment::kNoCores : 0) |
                                  (request.bytes_per_bank == 0 ? segment::kPerBankUnknown : 0) |
                                  (request.has_address ? 0 : segment::kNoAddress) |
                                  (request.is_estimate ? segment::kEstimate : 0));
    slot.role = request.role;
    slot.born = born;
    slot.when_ns = now_ns;
    slot.id = request.id;
    slot.address = request.address;
    slot.bytes = request.bytes;
    slot.bytes_per_bank = request.bytes_per_bank;
    slot.banks = request.banks;
    slot.device = device.record_index;
    if (request.cores != nullptr) slot.cores = *request.cores;
    copy_text(slot.label, request.label);
  });
}

[[gnu::always_inline]] inline void Tracker::clear_slot(const Receipt& receipt) {
  if (receipt.slot == kNoSlot) return;
  segment::AllocationSlot& slot = segment_->allocation(receipt.slot);
  publish(slot.seq, [&] { slot.live = 0; });
  segment_->give_allocation(receipt.slot);
}

// Gives everything up without an event each: the close of the device says it all.
void Tracker::drop_allocations(Device& device, std::span<const Receipt> kept) {
  std::uint64_t left = 0;
  std::uint64_t left_bytes = 0;
  const auto drop = [&](const Receipt& receipt) {
    account(device, receipt, Change::kRemove);
    clear_slot(receipt);
    if (receipt.role != TTMEM_KERNEL_APP) return;  // stays loaded until now by design
    ++left;
    left_bytes += receipt.used_bytes;
  };
  for (const Receipt& receipt : kept) drop(receipt);
  for (LiveTable& of_kind : device.live) {
    of_kind.for_each(drop);
    of_kind.clear();
  }
  publish(device.record->seq, [&] {
    increase(device.anomalies().left_at_close, left);
    increase(device.anomalies().left_at_close_bytes, left_bytes);
  });
}

// The grid became known after buffers were allocated: the cores of the sharded ones get the numbers
// that they have in it.
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
