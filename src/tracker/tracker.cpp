// SPDX-License-Identifier: Apache-2.0
#include "tracker/tracker.hpp"

#include <time.h>

#include <algorithm>
#include <cstring>

namespace ttmem::tracker {
namespace {

using segment::DeviceRecord;
using segment::kKernelKind;
using segment::kLooseCbKind;
using segment::kNoSlot;
using segment::publish;
using segment::store;

// No device has this much; a larger size is a mistake of the caller that would spoil the sums.
constexpr std::uint64_t kAbsurdBytes = 1ULL << 48;

// For a device whose grid nobody told: wide enough for every known one.
constexpr std::uint32_t kUnknownGridSide = 16;
static_assert(kUnknownGridSide * kUnknownGridSide <= kMaxCores);

// Ages are shown in seconds and events are ordered by number: the tick of the coarse clock, a few
// milliseconds, is fine enough, and it costs a third of the exact one.
std::uint64_t now() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void increase(std::uint64_t& figure, std::uint64_t by = 1) noexcept { store(figure, figure + by); }

// Copies a string that may be null or too long; the rest is zero.
template <std::size_t Size>
void copy_text(char (&to)[Size], const char* from) noexcept {
  std::memset(to, 0, Size);
  if (from != nullptr) std::memcpy(to, from, ::strnlen(from, Size));
}

// TRACE buffers lie in DRAM.
bool is_in_dram(std::uint8_t kind) noexcept { return kind == TTMEM_DRAM || kind == TTMEM_TRACE; }
bool is_in_l1(std::uint8_t kind) noexcept {
  return kind == TTMEM_L1 || kind == TTMEM_L1_SMALL || kind == kKernelKind || kind == kLooseCbKind;
}

}  // namespace

struct Tracker::LiveAllocation {
  std::uint64_t used_bytes = 0;
  std::uint64_t logical_bytes = 0;
  std::uint32_t slot = kNoSlot;
  bool is_unsized = false;
  std::uint8_t role = TTMEM_KERNEL_APP;
  bool is_estimate = false;
  std::uint32_t reports = 1;  // of a CB without an address: each wants its own free
};

// What a call asks for, with its banks worked out.
struct Tracker::Request {
  std::uint8_t kind = 0;
  std::uint8_t role = TTMEM_KERNEL_APP;
  std::uint64_t id = 0;
  std::uint64_t address = 0;
  bool has_address = false;
  bool is_estimate = false;
  std::uint64_t bytes = 0;
  std::uint64_t bytes_per_bank = 0;  // 0: unknown
  std::uint32_t banks = 0;           // 0: unknown
  bool every_bank = true;
  const CoreMask* cores = nullptr;  // unless it is in every bank
  const char* label = nullptr;
};

struct Tracker::Device {
  Device(DeviceRecord& its_record, std::uint32_t index)
      : record(&its_record), record_index(index), ledger(make_ledger()) {}

  [[nodiscard]] std::unique_ptr<ledger::DeviceLedger> make_ledger() const {
    return std::make_unique<ledger::DeviceLedger>(columns() * rows());
  }
  [[nodiscard]] std::uint32_t columns() const noexcept {
    return record->grid_x != 0 ? record->grid_x : kUnknownGridSide;
  }
  [[nodiscard]] std::uint32_t rows() const noexcept {
    return record->grid_y != 0 ? record->grid_y : kUnknownGridSide;
  }

  [[nodiscard]] bool is_open() const noexcept {
    return record->state == static_cast<std::uint32_t>(segment::DeviceState::kOpen);
  }

  // How many banks a buffer takes that lies in all of them; 0: unknown.
  [[nodiscard]] std::uint32_t banks_of(std::uint8_t kind) const noexcept {
    if (is_in_dram(kind)) return record->dram_channels;
    if (is_in_l1(kind)) return std::uint32_t{record->grid_x} * record->grid_y;
    return 1;  // host memory
  }

  // The cores of the ranges, and whether all of them are on the grid.
  bool mask_of(std::span<const ttmem_core_range> ranges, CoreMask& mask) const noexcept {
    bool all_inside = true;
    for (const ttmem_core_range& range : ranges) {
      all_inside &=
          range.x0 <= range.x1 && range.y0 <= range.y1 && range.x1 < columns() && range.y1 < rows();
      const std::uint32_t x1 = std::min<std::uint32_t>(range.x1, columns() - 1);
      const std::uint32_t y1 = std::min<std::uint32_t>(range.y1, rows() - 1);
      for (std::uint32_t y = range.y0; y <= y1; ++y) {
        for (std::uint32_t x = range.x0; x <= x1; ++x) mask.set(y * columns() + x);
      }
    }
    return all_inside;
  }

  void count_bad_argument() noexcept {
    publish(record->seq, [&] { increase(record->bad_arguments); });
  }

  DeviceRecord* record;
  std::uint32_t record_index;
  std::unique_ptr<ledger::DeviceLedger> ledger;
  std::array<boost::unordered_flat_map<std::uint64_t, LiveAllocation>, segment::kKinds> live;
};

Tracker::Tracker(std::unique_ptr<segment::SegmentWriter> segment)
    : segment_(std::move(segment)),
      footprints_([this](ledger::Footprint& footprint) { publish_footprint(footprint); },
                  [this](ledger::Footprint& footprint) { retire_footprint(footprint); }) {}

Tracker::~Tracker() = default;

std::unique_ptr<Tracker> Tracker::start(const segment::SegmentWriter::Options& options,
                                        std::string* error) {
  auto segment = segment::SegmentWriter::create(options, error);
  if (segment == nullptr) return nullptr;
  return std::unique_ptr<Tracker>(new Tracker(std::move(segment)));
}

// --- devices ----------------------------------------------------------------------------------

inline Tracker::Device* Tracker::find(std::uint32_t id) noexcept {
  if (id < by_id_.size()) [[likely]] {
    return by_id_[id];
  }
  for (std::uint32_t i = 0; i < segment_->header().device_count; ++i) {
    if (devices_[i] != nullptr && devices_[i]->record->id == id) return devices_[i].get();
  }
  return nullptr;
}

inline Tracker::Device* Tracker::device(std::uint32_t id) {
  Device* found = find(id);
  if (found != nullptr && found->is_open()) [[likely]] {
    return found;
  }
  return open(id, found);
}

Tracker::Device* Tracker::open(std::uint32_t id, Device* known) {
  if (known == nullptr) known = new_device(id);
  if (known == nullptr) {
    increase(segment_->header().dropped_calls);
    return nullptr;
  }
  const std::uint64_t time = now();
  publish(known->record->seq, [&] {
    store(known->record->opened_ns, time);
    store(known->record->state, static_cast<std::uint32_t>(segment::DeviceState::kOpen));
  });
  segment_->write_event(segment::EventType::kDeviceOpen, 0, id, 0, 0, 0, time);
  return known;
}

Tracker::Device* Tracker::new_device(std::uint32_t id) {
  const std::uint32_t index = segment_->take_device(now());
  if (index == kNoSlot) return nullptr;
  DeviceRecord& record = segment_->device(index);
  publish(record.seq, [&] { store(record.id, id); });
  devices_[index] = std::make_unique<Device>(record, index);
  if (id < by_id_.size()) by_id_[id] = devices_[index].get();
  return devices_[index].get();
}

void Tracker::device_open(const ttmem_device_info& info) {
  Device* device = this->device(info.id);
  if (device == nullptr) return;
  DeviceRecord& record = *device->record;
  const bool grid_fits = std::uint32_t{info.grid_x} * info.grid_y <= kMaxCores;
  const std::uint16_t grid_x = grid_fits ? info.grid_x : std::uint16_t{0};
  const std::uint16_t grid_y = grid_fits ? info.grid_y : std::uint16_t{0};
  if (!grid_fits) device->count_bad_argument();
  const bool new_grid = grid_x != record.grid_x || grid_y != record.grid_y;
  // Cores of another grid mean something else: its programs cannot be carried over.
  if (new_grid && device->ledger->programs() > 0) {
    device->count_bad_argument();
    empty(*device);
  }
  publish(record.seq, [&] {
    record.announced = 1;
    record.uid = info.uid;
    copy_text(record.arch, info.arch);
    copy_text(record.board, info.board);
    record.grid_x = grid_x;
    record.grid_y = grid_y;
    record.l1_bytes_per_core = info.l1_bytes_per_core;
    record.l1_base = info.l1_base;
    record.l1_small_bytes_per_core = info.l1_small_bytes_per_core;
    record.dram_channels = info.dram_channels;
    record.dram_bytes_per_channel = info.dram_bytes_per_channel;
    record.trace_region_bytes = info.trace_region_bytes;
  });
  if (new_grid) device->ledger = device->make_ledger();
}

void Tracker::device_close(std::uint32_t id) {
  Device* device = find(id);
  if (device == nullptr) return;
  DeviceRecord& record = *device->record;
  std::uint64_t left = 0;
  std::uint64_t left_bytes = 0;
  for (const auto& kind : device->live) {
    for (const auto& [key, live] : kind) {
      if (live.role != TTMEM_KERNEL_APP) continue;  // stays loaded until now by design
      ++left;
      left_bytes += live.used_bytes;
    }
  }
  empty(*device);
  publish(record.seq, [&] {
    increase(record.left_at_close, left);
    increase(record.left_at_close_bytes, left_bytes);
    for (auto& kind : record.kinds) store(kind.peak_bytes, std::uint64_t{0});
    store(record.l1_total_peak_bytes, std::uint64_t{0});
    store(record.cb_physical_peak_bytes, std::uint64_t{0});
    store(record.state, static_cast<std::uint32_t>(segment::DeviceState::kClosed));
  });
  segment_->write_event(segment::EventType::kDeviceClose, 0, id, 0, 0, 0, now());
}

// Gives up everything the device holds, one by one, as if it had been freed.
void Tracker::empty(Device& device) {
  for (std::uint8_t kind = 0; kind < segment::kKinds; ++kind) {
    for (const auto& [id, live] : device.live[kind]) {
      account(device, kind, live, Change::kRemove);
      clear_slot(live);
    }
    device.live[kind].clear();
  }
  std::vector<std::uint64_t> programs;
  programs.reserve(device.ledger->programs());
  device.ledger->for_each_program(
      [&](ledger::Placement& placement) { programs.push_back(placement.program); });
  for (std::uint64_t program : programs) {
    forget_program(device, *device.ledger->find(program));
  }
  publish_cb_figures(device);
}

// --- buffers and kernels ----------------------------------------------------------------------

void Tracker::buffer_alloc(std::uint32_t id, const ttmem_buffer& buffer) {
  Device* device = this->device(id);
  if (device == nullptr) return;
  if (static_cast<std::uint32_t>(buffer.type) > TTMEM_TRACE || buffer.bytes > kAbsurdBytes ||
      buffer.bytes_per_bank > kAbsurdBytes) {
    return device->count_bad_argument();
  }
  Request request;
  request.kind = static_cast<std::uint8_t>(buffer.type);
  request.id = buffer.id != 0 ? buffer.id : buffer.address;
  request.address = buffer.address;
  request.has_address = true;
  request.bytes = buffer.bytes;
  request.bytes_per_bank = buffer.bytes_per_bank;
  request.label = buffer.label;
  if (buffer.cores == nullptr || buffer.core_ranges == 0) {
    request.banks = device->banks_of(request.kind);
    allocate(*device, request);
  } else {
    allocate_sharded(*device, request, {buffer.cores, buffer.core_ranges});
  }
}

void Tracker::allocate_sharded(Device& device, Request& request,
                               std::span<const ttmem_core_range> ranges) {
  CoreMask cores;
  bool all_good = device.mask_of(ranges, cores);
  if (is_in_dram(request.kind)) {
    // The "cores" of a sharded DRAM buffer are banks, which need not lie on the compute grid.
    all_good = true;
    for (const ttmem_core_range& range : ranges) {
      const bool ordered = range.x0 <= range.x1 && range.y0 <= range.y1;
      if (ordered) request.banks += (range.x1 - range.x0 + 1U) * (range.y1 - range.y0 + 1U);
      all_good &= ordered;
    }
  } else {
    request.banks = cores.count();
  }
  if (!all_good) device.count_bad_argument();
  request.every_bank = false;
  request.cores = &cores;
  allocate(device, request);
}

void Tracker::buffer_free(std::uint32_t id, ttmem_buffer_type type, std::uint64_t buffer) {
  Device* device = this->device(id);
  if (device == nullptr) return;
  if (static_cast<std::uint32_t>(type) > TTMEM_TRACE) return device->count_bad_argument();
  release(*device, static_cast<std::uint8_t>(type), buffer);
}

void Tracker::kernel_load(std::uint32_t id, std::uint64_t kernel, std::uint64_t bytes,
                          ttmem_kernel_role role, bool is_estimate) {
  Device* device = this->device(id);
  if (device == nullptr) return;
  if (static_cast<std::uint32_t>(role) > TTMEM_KERNEL_DISPATCH || bytes > kAbsurdBytes) {
    return device->count_bad_argument();
  }
  // A kernel that was evicted and comes back is no anomaly: it is the same one, perhaps resized.
  if (device->live[kKernelKind].contains(kernel)) release(*device, kKernelKind, kernel);
  Request request;
  request.kind = kKernelKind;
  request.role = static_cast<std::uint8_t>(role);
  request.is_estimate = is_estimate;
  request.id = kernel;
  request.bytes = bytes;
  allocate(*device, request);
}

void Tracker::kernel_unload(std::uint32_t id, std::uint64_t kernel) {
  Device* device = this->device(id);
  if (device != nullptr) release(*device, kKernelKind, kernel);
}

void Tracker::cb_alloc(std::uint32_t id, std::uint64_t cb, std::uint64_t bytes) {
  Device* device = this->device(id);
  if (device == nullptr) return;
  if (bytes > kAbsurdBytes) return device->count_bad_argument();
  auto& live = device->live[kLooseCbKind];
  std::uint32_t reports = 1;
  if (const auto it = live.find(cb); it != live.end()) {
    reports = ++it->second.reports;
    if (bytes <= it->second.used_bytes) return;
    release(*device, kLooseCbKind, cb);
  }
  Request request;
  request.kind = kLooseCbKind;
  request.id = cb;
  request.bytes = bytes;
  allocate(*device, request);
  live.find(cb)->second.reports = reports;
}

void Tracker::cb_free(std::uint32_t id, std::uint64_t cb) {
  Device* device = this->device(id);
  if (device == nullptr) return;
  const auto it = device->live[kLooseCbKind].find(cb);
  if (it != device->live[kLooseCbKind].end() && --it->second.reports > 0) return;
  release(*device, kLooseCbKind, cb);
}

void Tracker::allocate(Device& device, const Request& request) {
  const std::uint64_t time = now();
  auto& live_of_kind = device.live[request.kind];
  auto [entry, is_new] = live_of_kind.try_emplace(request.id);
  if (!is_new) {
    publish(device.record->seq, [&] { increase(device.record->allocs_over_live); });
    release(device, request.kind, request.id);
    entry = live_of_kind.try_emplace(request.id).first;
  }
  LiveAllocation& live = entry->second;
  const bool sized = request.bytes_per_bank != 0 && request.banks != 0;
  live.used_bytes = sized ? request.bytes_per_bank * request.banks : request.bytes;
  live.logical_bytes = request.bytes;
  live.is_unsized = !sized && request.kind <= TTMEM_TRACE;
  live.role = request.role;
  live.is_estimate = request.is_estimate;
  live.slot = segment_->take_allocation(time);
  if (live.slot == kNoSlot) increase(segment_->header().dropped_allocations);

  const std::uint64_t born =
      segment_->write_event(segment::EventType::kAlloc, request.kind, device.record->id, request.id,
                            request.address, request.bytes, time);
  account(device, request.kind, live, Change::kAdd);
  if (live.slot != kNoSlot) write_slot(device, request, live, born, time);
}

void Tracker::release(Device& device, std::uint8_t kind, std::uint64_t id) {
  const auto it = device.live[kind].find(id);
  if (it == device.live[kind].end()) {
    publish(device.record->seq, [&] { increase(device.record->unknown_frees); });
    return;
  }
  // The slot goes before the event: who counts events up to this one finds it gone.
  clear_slot(it->second);
  segment_->write_event(segment::EventType::kFree, kind, device.record->id, id, 0,
                        it->second.logical_bytes, now());
  account(device, kind, it->second, Change::kRemove);
  device.live[kind].erase(it);
}

inline void Tracker::account(Device& device, std::uint8_t kind, const LiveAllocation& live,
                             Change direction) noexcept {
  DeviceRecord& record = *device.record;
  segment::KindFigures& figures = record.kinds[kind];
  publish(record.seq, [&] {
    const bool add = direction == Change::kAdd;
    const auto change = [add](std::uint64_t& figure, std::uint64_t by) {
      store(figure, add ? figure + by : figure - by);
    };
    change(figures.used_bytes, live.used_bytes);
    change(figures.logical_bytes, live.logical_bytes);
    change(figures.live, 1);
    change(figures.unsized, live.is_unsized ? 1 : 0);
    increase(add ? figures.allocations_total : figures.frees_total);
    if (figures.used_bytes > figures.peak_bytes) store(figures.peak_bytes, figures.used_bytes);
    if (kind == kKernelKind) {
      change(record.kernel_role_bytes[live.role], live.used_bytes);
      if (live.is_estimate) change(record.kernel_estimated_bytes, live.used_bytes);
    }
    if (!is_in_l1(kind)) return;
    if (kind == kLooseCbKind) {
      change(record.cb_physical_bytes, live.used_bytes);
      change(record.cb_logical_bytes, live.logical_bytes);
      if (record.cb_physical_bytes > record.cb_physical_peak_bytes) {
        store(record.cb_physical_peak_bytes, record.cb_physical_bytes);
      }
    }
    change(record.l1_total_bytes, live.used_bytes);
    if (record.l1_total_bytes > record.l1_total_peak_bytes) {
      store(record.l1_total_peak_bytes, record.l1_total_bytes);
    }
  });
}

inline void Tracker::write_slot(Device& device, const Request& request, const LiveAllocation& live,
                                std::uint64_t born, std::uint64_t now_ns) noexcept {
  segment::AllocationSlot& slot = segment_->allocation(live.slot);
  publish(slot.seq, [&] {
    slot.live = 1;
    slot.kind = request.kind;
    slot.flags =
        static_cast<std::uint8_t>((request.every_bank ? segment::kEveryBank : 0) |
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
    if (!request.every_bank) slot.cores = *request.cores;
    copy_text(slot.label, request.label);
  });
}

inline void Tracker::clear_slot(const LiveAllocation& live) {
  if (live.slot == kNoSlot) return;
  segment::AllocationSlot& slot = segment_->allocation(live.slot);
  publish(slot.seq, [&] { slot.live = 0; });
  segment_->give_allocation(live.slot);
}

// --- programs ---------------------------------------------------------------------------------

void Tracker::program_place(std::uint32_t id, std::uint64_t program,
                            std::span<const ttmem_cb> cbs) {
  using Placed = ledger::DeviceLedger::Placed;
  Device* device = this->device(id);
  if (device == nullptr) return;
  const Placed placed = device->ledger->place(program, footprint_of(*device, cbs));
  if (placed == Placed::kUnchanged) return;
  publish_program(*device, *device->ledger->find(program), placed == Placed::kNew);
  publish_cb_figures(*device);
}

void Tracker::program_dispatch(std::uint32_t id, std::uint64_t program) {
  Device* device = this->device(id);
  if (device == nullptr) return;
  const ledger::Placement* placement = device->ledger->find(program);
  if (placement != nullptr && placement->whole) return;
  if (!device->ledger->dispatch(program)) {
    publish(device->record->seq, [&] { increase(device->record->unknown_programs); });
    return;
  }
  publish_cb_figures(*device);
}

void Tracker::trace_replay(std::uint32_t id, std::span<const std::uint64_t> programs) {
  Device* device = this->device(id);
  if (device == nullptr) return;
  const std::uint32_t unknown = device->ledger->replay(programs);
  if (unknown > 0) {
    publish(device->record->seq, [&] { increase(device->record->unknown_programs, unknown); });
  }
  publish_cb_figures(*device);
}

void Tracker::program_destroy(std::uint64_t program) {
  for (std::uint32_t i = 0; i < segment_->header().device_count; ++i) {
    ledger::Placement* placement =
        devices_[i] == nullptr ? nullptr : devices_[i]->ledger->find(program);
    if (placement == nullptr) continue;
    forget_program(*devices_[i], *placement);
    publish_cb_figures(*devices_[i]);
  }
}

ledger::FootprintRef Tracker::footprint_of(Device& device, std::span<const ttmem_cb> cbs) {
  const DeviceRecord& record = *device.record;
  key_.clear();
  key_.push_back(std::uint64_t{device.columns()} << 48 | std::uint64_t{device.rows()} << 32 |
                 record.l1_bytes_per_core);
  for (const ttmem_cb& cb : cbs) {
    const std::uint32_t ranges = cb.cores == nullptr ? 0 : cb.core_ranges;
    key_.push_back(cb.address);
    key_.push_back(cb.bytes);
    key_.push_back(std::uint64_t{cb.flags} << 32 | ranges);
    for (std::uint32_t i = 0; i < ranges; ++i) {
      std::uint64_t packed = 0;
      std::memcpy(&packed, &cb.cores[i], sizeof packed);
      key_.push_back(packed);
    }
  }
  return footprints_.acquire(key_, [&] { return decode(device, cbs); });
}

// What does not lie in the L1 of the device's cores cannot be true: it is cut off, and counted.
std::vector<ledger::Cb> Tracker::decode(Device& device, std::span<const ttmem_cb> cbs) {
  const std::uint64_t l1_end = device.record->l1_bytes_per_core != 0
                                   ? device.record->l1_bytes_per_core
                                   : std::uint64_t{0xffffffff};
  std::vector<ledger::Cb> result;
  result.reserve(cbs.size());
  bool all_good = true;
  for (const ttmem_cb& cb : cbs) {
    ledger::Cb decoded;
    const std::uint64_t begin = std::min(cb.address, l1_end);
    const std::uint64_t end = begin + std::min(cb.bytes, l1_end - begin);
    all_good &= begin == cb.address && end - begin == cb.bytes;
    decoded.range = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
    decoded.global = (cb.flags & TTMEM_CB_GLOBAL) != 0;
    if (cb.cores != nullptr) all_good &= device.mask_of({cb.cores, cb.core_ranges}, decoded.cores);
    result.push_back(decoded);
  }
  if (!all_good) device.count_bad_argument();
  return result;
}

void Tracker::publish_footprint(ledger::Footprint& footprint) noexcept {
  const auto count = static_cast<std::uint32_t>(footprint.cbs.size());
  if (count == 0) return;
  try {
    footprint.first_record =
        count > segment::kMaxCbsPerProgram ? kNoSlot : segment_->take_cbs(count, now());
  } catch (const std::bad_alloc&) {
    footprint.first_record = kNoSlot;
  }
  if (footprint.first_record == kNoSlot) return;
  footprint.number = ++footprint_number_;
  for (std::uint32_t i = 0; i < count; ++i) {
    const ledger::Cb& cb = footprint.cbs[i];
    segment::CbRecord& record = segment_->cb(footprint.first_record + i);
    record.address = cb.range.begin;
    record.bytes = cb.range.length();
    record.flags = cb.global ? std::uint32_t{segment::kCbGlobal} : 0;
    record.cores = cb.cores;
    // The record is complete before it carries the number that its programs look for.
    std::atomic_ref<std::uint64_t>(record.footprint)
        .store(footprint.number, std::memory_order_release);
  }
}

void Tracker::retire_footprint(ledger::Footprint& footprint) noexcept {
  if (footprint.number == 0) return;
  const auto count = static_cast<std::uint32_t>(footprint.cbs.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    store(segment_->cb(footprint.first_record + i).footprint, std::uint64_t{0});
  }
  // No footprint is written over these records before their numbers are gone.
  std::atomic_thread_fence(std::memory_order_release);
  try {
    segment_->give_cbs(footprint.first_record, count);
  } catch (const std::bad_alloc&) {
    // The records stay unused; nothing else depends on them.
  }
}

void Tracker::publish_program(Device& device, ledger::Placement& placement, bool is_new) {
  const std::uint64_t time = now();
  if (is_new) {
    placement.slot = segment_->take_program(time);
    if (placement.slot == kNoSlot) increase(segment_->header().dropped_programs);
  }
  const std::uint64_t born =
      segment_->write_event(segment::EventType::kProgramPlace, 0, device.record->id,
                            placement.program, 0, placement.footprint->logical_bytes, time);
  if (placement.slot == kNoSlot) return;
  segment::ProgramSlot& slot = segment_->program(placement.slot);
  publish(slot.seq, [&] {
    slot.live = 1;
    slot.born = born;
    if (is_new) slot.when_ns = time;
    slot.program = placement.program;
    slot.footprint = placement.footprint->number;
    slot.first_cb = placement.footprint->first_record;
    slot.cb_count = static_cast<std::uint32_t>(placement.footprint->cbs.size());
    slot.device = device.record_index;
    slot.resident_cores = placement.resident_cores;
  });
}

void Tracker::publish_cb_figures(Device& device) noexcept {
  DeviceRecord& record = *device.record;
  const ledger::DeviceLedger& ledger = *device.ledger;
  const segment::KindFigures& loose = record.kinds[kLooseCbKind];
  publish(record.seq, [&] {
    const std::uint64_t physical = ledger.physical_bytes() + loose.used_bytes;
    store(record.l1_total_bytes, record.l1_total_bytes - record.cb_physical_bytes + physical);
    store(record.cb_physical_bytes, physical);
    store(record.cb_resident_bytes, ledger.resident_bytes());
    store(record.cb_logical_bytes, ledger.logical_bytes() + loose.logical_bytes);
    store(record.programs, std::uint64_t{ledger.programs()});
    if (record.cb_physical_bytes > record.cb_physical_peak_bytes) {
      store(record.cb_physical_peak_bytes, record.cb_physical_bytes);
    }
    if (record.l1_total_bytes > record.l1_total_peak_bytes) {
      store(record.l1_total_peak_bytes, record.l1_total_bytes);
    }
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
    if (placement.slot == kNoSlot) return;
    segment::ProgramSlot& slot = segment_->program(placement.slot);
    publish(slot.seq, [&] { slot.resident_cores = placement.resident_cores; });
  });
}

// The caller publishes the figures.
void Tracker::forget_program(Device& device, ledger::Placement& placement) {
  const std::uint64_t program = placement.program;
  if (placement.slot != kNoSlot) {
    segment::ProgramSlot& slot = segment_->program(placement.slot);
    publish(slot.seq, [&] { slot.live = 0; });
    segment_->give_program(placement.slot);
  }
  segment_->write_event(segment::EventType::kProgramDestroy, 0, device.record->id, program, 0,
                        placement.footprint->logical_bytes, now());
  device.ledger->remove(program);
}

}  // namespace ttmem::tracker
