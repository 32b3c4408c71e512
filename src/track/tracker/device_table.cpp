// SPDX-License-Identifier: Apache-2.0
#include "track/tracker/device_table.hpp"

#include <atomic>
#include <tuple>

#include "track/tracker/clock.hpp"

namespace ttmem::tracker {
namespace {

// Ends the period of a peak when the device closes: raises `highest` to `peak`, and sets `peak` to
// 0 for the next opening.
void end_peak(std::uint64_t& peak, std::uint64_t& highest) {
  if (peak > highest) segment::store(highest, peak);
  segment::store(peak, std::uint64_t{0});
}

}  // namespace

TrackedDevice* DeviceTable::find_by_search(std::uint32_t id) const noexcept {
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (devices_[i]->id == id) return devices_[i].get();
  }
  return nullptr;
}

void DeviceTable::notify_observer(const TrackedDevice& device) const noexcept {
  if (Observer* const observer = process_.observer()) observer->device_changed(device.record_index);
}

TrackedDevice* DeviceTable::open(std::uint32_t id, TrackedDevice* known) {
  if (known == nullptr) known = new_device(id);
  if (known == nullptr) {
    process_.count_dropped_calls(1);
    return nullptr;
  }
  const std::uint64_t time = now();
  publish(known->record->seq, [&] {
    store(known->record->opened_ns, time);
    // Clears these two sizes, which a process chooses at each opening. All other fields describe
    // the chip.
    known->record->l1_small_bytes_per_core = 0;
    known->record->trace_region_bytes = 0;
    store(known->record->state, static_cast<std::uint32_t>(segment::DeviceState::open));
  });
  ++shapes_;
  process_.segment().write_event(
      {.type = segment::EventType::device_open, .device_id = id, .when_ns = process_.exact_time()});
  notify_observer(*known);
  return known;
}

TrackedDevice* DeviceTable::new_device(std::uint32_t id) {
  const std::uint32_t index = process_.segment().acquire_device(now());
  if (index == kNoSlot) return nullptr;
  DeviceRecord& record = process_.segment().device(index);
  publish(record.seq, [&] { store(record.id, id); });
  devices_[index] = std::make_unique<TrackedDevice>(record, index, id);
  count_ = index + 1;
  if (id < by_id_.size()) by_id_[id] = devices_[index].get();
  return devices_[index].get();
}

bool DeviceTable::changes_grid(const ttmem_device_info& info) const noexcept {
  const std::uint32_t cores = std::uint32_t{info.grid_x} * info.grid_y;
  const TrackedDevice* device = find(info.id);
  return cores > 0 && cores <= kMaxCores &&
         (device == nullptr || info.grid_x != device->grid_x || info.grid_y != device->grid_y);
}

bool DeviceTable::describe(TrackedDevice& device, const ttmem_device_info& info) {
  DeviceRecord& record = *device.record;
  const std::uint32_t cores = std::uint32_t{info.grid_x} * info.grid_y;
  if (cores > kMaxCores) device.count_bad_argument();
  if (info.dram_channels > kMaxBanks) device.count_bad_argument();
  const bool new_grid = changes_grid(info);
  const auto update = [](auto& known, auto reported) {
    if (reported != 0) known = reported;
  };
  publish(record.seq, [&] {
    record.announced = 1;
    update(record.uid, info.uid);
    if (info.arch != nullptr) copy_text(record.arch, info.arch);
    if (info.board != nullptr) copy_text(record.board, info.board);
    if (new_grid) {
      device.grid_x = record.grid_x = info.grid_x;
      device.grid_y = record.grid_y = info.grid_y;
    }
    update(record.l1_bytes_per_core, info.l1_bytes_per_core);
    update(record.l1_base, info.l1_base);
    update(record.l1_small_bytes_per_core, info.l1_small_bytes_per_core);
    if (info.dram_channels <= kMaxBanks) update(record.dram_channels, info.dram_channels);
    update(record.dram_bytes_per_channel, info.dram_bytes_per_channel);
    update(record.trace_region_bytes, info.trace_region_bytes);
  });
  ++shapes_;
  notify_observer(device);
  return new_grid;
}

void DeviceTable::close(TrackedDevice& device) {
  DeviceRecord& record = *device.record;
  publish(record.seq, [&] {
    for (const Kind kind : kAllKinds) {
      end_peak(record.figures.kinds[kind].peak_bytes, record.past_peaks.kinds[kind]);
    }
    end_peak(record.figures.l1_total_peak_bytes, record.past_peaks.l1_total_bytes);
    store(record.cb_estimate, 0U);
    store(record.state, static_cast<std::uint32_t>(segment::DeviceState::closed));
  });
  ++shapes_;
  process_.segment().write_event({.type = segment::EventType::device_close,
                                  .device_id = device.id,
                                  .when_ns = process_.exact_time()});
  notify_observer(device);
}

void DeviceTable::set_reported(std::uint32_t id, std::uint32_t kinds) {
  TrackedDevice* device = find_or_open(id);
  if (device != nullptr) set_known(*device, kinds, true);
}

void DeviceTable::set_unseen(std::uint32_t kinds, const char* why) {
  for_each([&](TrackedDevice& device) {
    if (device.is_open()) set_known(device, kinds, false);
  });
  const std::uint32_t text = why == nullptr ? 0 : process_.texts().number_of(why);
  if (text == 0) return;
  for (std::uint32_t& slot : process_.segment().header().not_seen) {
    if (slot == text) return;
    if (slot != 0) continue;
    // Stores the number after the text, so that a reader that finds the number finds the text.
    std::atomic_ref<std::uint32_t>(slot).store(text, std::memory_order_release);
    return;
  }
}

void DeviceTable::set_known(TrackedDevice& device, std::uint32_t kinds, bool known) {
  DeviceRecord& record = *device.record;
  const auto set = [&](Kind kind) {
    store(record.figures.kinds[kind].known, known ? kAllFigures : 0);
  };
  publish(record.seq, [&] {
    for (std::size_t type = 0; type < kBufferKinds.size(); ++type) {
      if ((kinds >> type & 1U) != 0) set(kBufferKinds[type]);
    }
    if ((kinds & TTMEM_REPORTS_PROGRAMS) != 0) {
      set(Kind::cb);
      store(record.programs_reported, known ? 1U : 0U);
    }
    if ((kinds & TTMEM_REPORTS_KERNELS) != 0) set(Kind::kernel);
    if ((kinds & TTMEM_REPORTS_DISPATCHES) != 0) store(record.resident_reported, known ? 1U : 0U);
  });
  notify_observer(device);
}

void DeviceTable::set_cb_estimate(std::uint32_t id, bool is_estimate) {
  TrackedDevice* device = find(id);
  if (device == nullptr || !device->is_open()) return;
  DeviceRecord& record = *device->record;
  publish(record.seq, [&] { store(record.cb_estimate, is_estimate ? 1U : 0U); });
  notify_observer(*device);
}

// Looks up the devices of a list. Later calls with the same list use the result again. A list with
// a fault (a device listed twice, or no room) is looked up each time, because each call must count
// the fault again.
TrackedMesh& DeviceTable::look_up(std::span<const std::uint32_t> list, KnownMesh& known) {
  TrackedMesh& mesh = known.mesh;
  mesh = {};
  bool faultless = true;
  for (const std::uint32_t id : list) {
    TrackedDevice* device = find_or_open(id);
    const bool twice = device != nullptr && mesh.devices.test(device->record_index);
    if (twice) device->count_bad_argument();
    faultless &= device != nullptr && !twice;
    if (device != nullptr && !twice) add_to(mesh, *device);
  }
  known.list.assign(list.begin(), list.end());
  known.shapes = faultless ? shapes_ : 0;
  return mesh;
}

void DeviceTable::add_to(TrackedMesh& mesh, const TrackedDevice& device) {
  const auto shape = [](const TrackedDevice& of) {
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

}  // namespace ttmem::tracker
