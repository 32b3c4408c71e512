// SPDX-License-Identifier: Apache-2.0
#include "collector/device_total.hpp"

#include <algorithm>
#include <utility>

#include "collector/unknown_sums.hpp"

namespace ttmem::collector {
namespace {

using model::Bytes;
using segment::DeviceImage;
using segment::KindFigures;

void raise(Bytes& peak, std::uint64_t bytes) { peak = std::max(peak.value_or(bytes), bytes); }

// The parts of a capacity are unknown when 0.
Bytes capacity(std::uint64_t parts, std::uint64_t bytes_each) {
  if (parts == 0 || bytes_each == 0) return std::nullopt;
  return saturating_mul(parts, bytes_each);
}

template <typename T>
void fill(T& known, const T& other) {
  if (known == T{}) known = other;
}

}  // namespace

DeviceTotal::DeviceTotal(std::uint64_t uid, std::uint32_t id, std::string arch) {
  device_.id = id;
  if (uid != 0) device_.uid = uid;
  device_.arch = std::move(arch);
  for (Bytes* sum :
       {&device_.dram_used_bytes, &device_.dram_logical_bytes, &device_.l1_used_bytes,
        &device_.l1_buffers_bytes, &device_.l1_buffers_logical_bytes,
        &device_.l1_buffers_physical_bytes, &device_.l1_small_bytes, &device_.cb_physical_bytes,
        &device_.cb_resident_bytes, &device_.cb_logical_bytes, &device_.kernels_bytes,
        &device_.kernels_persistent_bytes, &device_.kernels_estimated_bytes,
        &device_.trace_used_bytes, &device_.system_bytes, &device_.programs,
        &device_.allocations_total, &device_.frees_total}) {
    *sum = 0;
  }
}

void DeviceTotal::describe(const DeviceImage& device) {
  fill(device_.arch, device.arch);
  fill(device_.board, device.board);
  // Processes may see grids of different sizes (n300 with and without Ethernet dispatch).
  const std::uint16_t x = std::max(device_.grid_x, device.grid_x);
  const std::uint16_t y = std::max(device_.grid_y, device.grid_y);
  if (std::uint32_t{x} * y <= kMaxCores) {
    device_.grid_x = x;
    device_.grid_y = y;
    cores_.resize(std::size_t{x} * y);
  }
  fill(limits_.l1_bytes_per_core, std::uint64_t{device.l1_bytes_per_core});
  fill(limits_.l1_base, std::uint64_t{device.l1_base});
  fill(limits_.l1_small_bytes_per_core, std::uint64_t{device.l1_small_bytes_per_core});
  fill(device_.dram_channels, device.dram_channels);
  fill(device_.dram_capacity_bytes, capacity(device.dram_channels, device.dram_bytes_per_channel));
  fill(device_.trace_capacity_bytes, capacity(1, device.trace_region_bytes));
}

void DeviceTotal::add_memory(const DeviceImage& device) {
  const KindFigures& dram = device.kinds[segment::kDramKind];
  add_to(device_.dram_used_bytes, dram.used_bytes);
  add_to(device_.dram_logical_bytes, dram.logical_bytes);
  raise(device_.dram_peak_bytes, dram.peak_bytes);
  const KindFigures& trace = device.kinds[segment::kTraceKind];
  add_to(device_.trace_used_bytes, trace.used_bytes);
  raise(device_.trace_peak_bytes, trace.peak_bytes);
  add_to(device_.system_bytes, device.kinds[segment::kSystemKind].used_bytes);
}

void DeviceTotal::add_l1(const DeviceImage& device) {
  add_to(device_.l1_used_bytes, device.l1_total_bytes);
  raise(device_.l1_peak_bytes, device.l1_total_peak_bytes);
  const KindFigures& buffers = device.kinds[segment::kL1Kind];
  add_to(device_.l1_buffers_bytes, buffers.used_bytes);
  add_to(device_.l1_buffers_logical_bytes, buffers.logical_bytes);
  add_to(device_.l1_buffers_physical_bytes,
         buffers.unsized == 0 ? Bytes(buffers.used_bytes) : std::nullopt);
  add_to(device_.l1_small_bytes, device.kinds[segment::kL1SmallKind].used_bytes);
  add_to(device_.cb_physical_bytes, device.cb_physical_bytes);
  raise(device_.cb_peak_bytes, device.cb_physical_peak_bytes);
  add_to(device_.cb_resident_bytes,
         device.cb_resident_known ? Bytes(device.cb_resident_bytes) : std::nullopt);
  add_to(device_.cb_logical_bytes, device.cb_logical_bytes);
  add_to(device_.kernels_bytes, device.kinds[segment::kKernelKind].used_bytes);
  add_to(device_.kernels_estimated_bytes, device.kernel_estimated_bytes);
  add_to(device_.kernels_persistent_bytes,
         saturating_add(device.kernel_role_bytes[1], device.kernel_role_bytes[2]));
}

void DeviceTotal::add_counts(const DeviceImage& device) {
  add_to(device_.programs, device.programs);
  for (const KindFigures& kind : device.kinds) {
    add_to(device_.allocations_total, kind.allocations_total);
    add_to(device_.frees_total, kind.frees_total);
  }
  const auto count = [](std::uint64_t& sum, std::uint64_t part) {
    sum = saturating_add(sum, part);
  };
  count(device_.anomalies.unknown_frees, device.unknown_frees);
  count(device_.anomalies.allocs_over_live, device.allocs_over_live);
  count(device_.anomalies.unknown_programs, device.unknown_programs);
  count(device_.anomalies.bad_arguments, device.bad_arguments);
  count(device_.anomalies.left_at_close, device.left_at_close);
  count(device_.anomalies.left_at_close_bytes, device.left_at_close_bytes);
}

void DeviceTotal::add_cores(const DeviceImage& device, const std::vector<CoreState>& states) {
  // A CB without an address lies on cores that nobody told.
  const bool complete = !device.cores.empty() && device.kinds[segment::kLooseCbKind].live == 0;
  if (!complete || device.grid_x > device_.grid_x || device.grid_y > device_.grid_y) {
    cores_known_ = false;
    return;
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    const std::size_t x = i % device.grid_x;
    const std::size_t y = i / device.grid_x;
    merge_core(cores_[y * device_.grid_x + x], states[i]);
  }
}

void DeviceTotal::add_tracked(const DeviceImage& device, const DeviceGeometry& geometry) {
  add_memory(device);
  add_l1(device);
  add_counts(device);
  add_cores(device, geometry.cores);
  device_.anomalies.overlapping_buffers += geometry.overlaps;
}

void DeviceTotal::add_untracked(const RegionRow& row) {
  add_to(device_.dram_used_bytes, row.dram_bytes);
  add_to(device_.dram_logical_bytes, row.dram_bytes);
  add_to(device_.trace_used_bytes, row.trace_bytes);
  add_to(device_.l1_buffers_bytes, row.l1_bytes);
  add_to(device_.l1_buffers_logical_bytes, row.l1_bytes);
  add_to(device_.l1_small_bytes, row.l1_small_bytes);
  add_to(device_.cb_physical_bytes, row.cb_bytes);
  // All of L1 that is known: the region has no kernels, which are shown as unknown beside it.
  for (const std::uint64_t part : {row.l1_bytes, row.l1_small_bytes, row.cb_bytes}) {
    add_to(device_.l1_used_bytes, part);
  }
  for (Bytes* unknown :
       {&device_.l1_buffers_physical_bytes, &device_.cb_resident_bytes, &device_.cb_logical_bytes,
        &device_.kernels_bytes, &device_.kernels_persistent_bytes, &device_.kernels_estimated_bytes,
        &device_.system_bytes, &device_.programs, &device_.allocations_total,
        &device_.frees_total}) {
    unknown->reset();
  }
  cores_known_ = false;
}

// What all hold now was reached for certain, and so was what each held at its own peak.
void DeviceTotal::finish_peaks() {
  const auto at_least_now = [](Bytes& peak, const Bytes& now) {
    if (peak && now) raise(peak, *now);
  };
  at_least_now(device_.dram_peak_bytes, device_.dram_used_bytes);
  at_least_now(device_.l1_peak_bytes, device_.l1_used_bytes);
  at_least_now(device_.cb_peak_bytes, device_.cb_physical_bytes);
  at_least_now(device_.trace_peak_bytes, device_.trace_used_bytes);
}

void DeviceTotal::finish_cores() {
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    model::Core core;
    core.x = static_cast<std::uint16_t>(i % device_.grid_x);
    core.y = static_cast<std::uint16_t>(i / device_.grid_x);
    if (cores_known_) {
      core.cb_bytes = cores_[i].cb_bytes;
      if (device_.cb_resident_bytes) core.cb_resident_bytes = cores_[i].cb_resident_bytes;
      core.l1_bytes = cores_[i].l1_bytes;
      core.headroom_bytes = headroom(cores_[i], limits_);
    }
    device_.cores.push_back(core);
  }
  if (device_.cores.empty()) return;
  auto& least = device_.headroom_bytes_per_core;
  least = device_.cores.front().headroom_bytes;
  for (const model::Core& core : device_.cores) {
    least = least && core.headroom_bytes ? std::min(least, core.headroom_bytes) : std::nullopt;
  }
}

model::Device DeviceTotal::finish() {
  device_.l1_capacity_bytes = capacity(cores_.size(), limits_.l1_bytes_per_core);
  device_.l1_bytes_per_core = capacity(1, limits_.l1_bytes_per_core);
  device_.l1_base = capacity(1, limits_.l1_base);
  if (device_.l1_bytes_per_core) {
    device_.l1_small_region_bytes = limits_.l1_small_bytes_per_core;
  }
  finish_peaks();
  finish_cores();
  std::stable_sort(device_.processes.begin(), device_.processes.end(),
                   [](const model::Process& a, const model::Process& b) {
                     if (a.state != b.state) return a.state == model::State::alive;
                     return held_bytes(a) > held_bytes(b);
                   });
  return std::move(device_);
}

}  // namespace ttmem::collector
