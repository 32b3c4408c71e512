// SPDX-License-Identifier: Apache-2.0
//
// The devices of the tracker. Its other parts are in allocations.cpp and programs.cpp.
#include "track/tracker/tracker.hpp"

#include <atomic>
#include <cstdint>
#include <utility>

namespace ttmem::tracker {
namespace {

// A peak of a device that closes: the next time it is open begins with none.
void end_peak(std::uint64_t& peak, std::uint64_t& highest) {
  if (peak > highest) segment::store(highest, peak);
  segment::store(peak, std::uint64_t{0});
}

}  // namespace

Tracker::Tracker(std::unique_ptr<segment::SegmentWriter> segment)
    : segment_(std::move(segment)),
      footprints_([this](ledger::Footprint& footprint) { publish_footprint(footprint); },
                  [this](ledger::Footprint& footprint) { retire_footprint(footprint); }),
      texts_(*segment_),
      sets_(*segment_) {}

Tracker::~Tracker() = default;

Result<std::unique_ptr<Tracker>> Tracker::start(const segment::SegmentWriter::Options& options) {
  auto segment = segment::SegmentWriter::create(options);
  if (!segment) return segment.error();
  return std::make_unique<Tracker>(std::move(*segment));
}

void Tracker::count_dropped_calls(std::uint64_t calls) noexcept {
  increase(segment_->header().dropped_calls, calls);
}

void Tracker::count_recorded_calls(std::uint64_t calls) noexcept {
  std::uint64_t& dropped = segment_->header().dropped_calls;
  store(dropped, dropped - calls);
}

Device* Tracker::find_by_search(std::uint32_t id) const noexcept {
  for (std::uint32_t i = 0; i < segment_->device_count(); ++i) {
    if (devices_[i] != nullptr && devices_[i]->id == id) return devices_[i].get();
  }
  return nullptr;
}

Device* Tracker::open(std::uint32_t id, Device* known) {
  if (known == nullptr) known = new_device(id);
  if (known == nullptr) {
    count_dropped_call();
    return nullptr;
  }
  const std::uint64_t time = now();
  publish(known->record->seq, [&] {
    store(known->record->opened_ns, time);
    // Chosen anew at each opening; everything else is the chip's.
    known->record->l1_small_bytes_per_core = 0;
    known->record->trace_region_bytes = 0;
    store(known->record->state, static_cast<std::uint32_t>(segment::DeviceState::open));
  });
  ++shapes_;
  segment_->write_event(
      {.type = segment::EventType::device_open, .device_id = id, .when_ns = exact_time()});
  if (observer_ != nullptr) observer_->device_changed(known->record_index);
  return known;
}

Device* Tracker::new_device(std::uint32_t id) {
  const std::uint32_t index = segment_->acquire_device(now());
  if (index == kNoSlot) return nullptr;
  DeviceRecord& record = segment_->device(index);
  publish(record.seq, [&] { store(record.id, id); });
  devices_[index] = std::make_unique<Device>(record, index, id);
  if (id < by_id_.size()) by_id_[id] = devices_[index].get();
  return devices_[index].get();
}

bool Tracker::changes_grid(const ttmem_device_info& info) const noexcept {
  const std::uint32_t cores = std::uint32_t{info.grid_x} * info.grid_y;
  const Device* device = find(info.id);
  return cores > 0 && cores <= kMaxCores &&
         (device == nullptr || info.grid_x != device->grid_x || info.grid_y != device->grid_y);
}

void Tracker::device_open(const ttmem_device_info& info) {
  segment_->restore_deleted_file();
  Device* device = this->device(info.id);
  if (device == nullptr) return;
  DeviceRecord& record = *device->record;
  const std::uint32_t cores = std::uint32_t{info.grid_x} * info.grid_y;
  if (cores > kMaxCores) device->count_bad_argument();
  if (info.dram_channels > kMaxBanks) device->count_bad_argument();
  const bool new_grid = changes_grid(info);
  const std::uint32_t columns_before = device->columns();
  const auto update = [](auto& known, auto reported) {
    if (reported != 0) known = reported;
  };
  publish(record.seq, [&] {
    record.announced = 1;
    update(record.uid, info.uid);
    if (info.arch != nullptr) copy_text(record.arch, info.arch);
    if (info.board != nullptr) copy_text(record.board, info.board);
    if (new_grid) {
      device->grid_x = record.grid_x = info.grid_x;
      device->grid_y = record.grid_y = info.grid_y;
    }
    update(record.l1_bytes_per_core, info.l1_bytes_per_core);
    update(record.l1_base, info.l1_base);
    update(record.l1_small_bytes_per_core, info.l1_small_bytes_per_core);
    if (info.dram_channels <= kMaxBanks) update(record.dram_channels, info.dram_channels);
    update(record.dram_bytes_per_channel, info.dram_bytes_per_channel);
    update(record.trace_region_bytes, info.trace_region_bytes);
  });
  ++shapes_;
  if (observer_ != nullptr) observer_->device_changed(device->record_index);
  if (!new_grid) return;
  renumber_buffers(*device, columns_before);
  renumber_programs(*device);
}

void Tracker::reports(std::uint32_t id, std::uint32_t what) {
  Device* device = this->device(id);
  if (device != nullptr) set_known(*device, what, true);
}

void Tracker::not_seen(std::uint32_t what, const char* why) {
  for (const std::unique_ptr<Device>& device : devices_) {
    if (device != nullptr && device->is_open()) set_known(*device, what, false);
  }
  const std::uint32_t text = why == nullptr ? 0 : texts_.number_of(why);
  if (text == 0) return;
  for (std::uint32_t& slot : segment_->header().not_seen) {
    if (slot == text) return;
    if (slot != 0) continue;
    // Released after the text, which readers then find complete.
    std::atomic_ref<std::uint32_t>(slot).store(text, std::memory_order_release);
    return;
  }
}

void Tracker::set_known(Device& device, std::uint32_t what, bool known) {
  DeviceRecord& record = *device.record;
  const auto set = [&](Kind kind) {
    store(record.figures.kinds[kind].known, known ? kAllFigures : 0);
  };
  publish(record.seq, [&] {
    for (std::size_t type = 0; type < kBufferKinds.size(); ++type) {
      if ((what >> type & 1U) != 0) set(kBufferKinds[type]);
    }
    if ((what & TTMEM_REPORTS_PROGRAMS) != 0) {
      set(Kind::cb);
      store(record.programs_reported, known ? 1U : 0U);
    }
    if ((what & TTMEM_REPORTS_KERNELS) != 0) set(Kind::kernel);
    if ((what & TTMEM_REPORTS_DISPATCHES) != 0) store(record.resident_reported, known ? 1U : 0U);
  });
  if (observer_ != nullptr) observer_->device_changed(device.record_index);
}

void Tracker::cb_estimate(std::uint32_t id, bool is_estimate) {
  Device* device = find(id);
  if (device == nullptr || !device->is_open()) return;
  DeviceRecord& record = *device->record;
  publish(record.seq, [&] { store(record.cb_estimate, is_estimate ? 1U : 0U); });
  if (observer_ != nullptr) observer_->device_changed(device->record_index);
}

void Tracker::device_close(std::uint32_t id) {
  Device* device = find(id);
  if (device == nullptr || !device->is_open()) return;
  segment_->restore_deleted_file();
  DeviceRecord& record = *device->record;
  Observer* const observer = std::exchange(observer_, nullptr);  // is called once, below
  drop_programs(*device);
  observer_ = observer;
  publish(record.seq, [&] {
    for (const Kind kind : kAllKinds) {
      end_peak(record.figures.kinds[kind].peak_bytes, record.past_peaks.kinds[kind]);
    }
    end_peak(record.figures.l1_total_peak_bytes, record.past_peaks.l1_total_bytes);
    store(record.cb_estimate, 0U);
    store(record.state, static_cast<std::uint32_t>(segment::DeviceState::closed));
  });
  ++shapes_;
  segment_->write_event(
      {.type = segment::EventType::device_close, .device_id = id, .when_ns = exact_time()});
  if (observer_ != nullptr) observer_->device_changed(device->record_index);
}

void Tracker::mark(const char* name) {
  segment_->write_event({.type = segment::EventType::mark,
                         .id = texts_.number_of(name),
                         .when_ns = clock_ns(CLOCK_MONOTONIC)});
}

// Of what is rare. A recorder gives an event at least the time of the one before, so that these
// make the coarse times of buffers between them finer.
std::uint64_t Tracker::exact_time() const noexcept {
  return segment_->has_event_details() ? clock_ns(CLOCK_MONOTONIC) : now();
}

}  // namespace ttmem::tracker
