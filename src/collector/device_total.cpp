// SPDX-License-Identifier: Apache-2.0
#include "collector/device_total.hpp"

#include <algorithm>
#include <utility>

#include "base/saturating.hpp"

namespace ttmem::collector {
namespace {

using model::Bytes;
using segment::DeviceImage;

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
  // Sums begin with a known zero, peaks with nothing.
  for (KindFigures& kind : device_.kinds)
    kind.known = kAllFigures & ~known_bit(&KindFigures::peak_bytes);
  for (Bytes* sum :
       {&device_.l1_used_bytes, &device_.cb_resident_bytes, &device_.kernels_persistent_bytes,
        &device_.kernels_estimated_bytes, &device_.programs}) {
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

void DeviceTotal::add_cores(const DeviceImage& device, const std::vector<CoreState>& states) {
  // Nobody reports on which cores a CB without an address lies.
  const bool complete = !device.cores.empty() && device.kinds[Kind::cb].live == 0;
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
  merge(device_.kinds, all_known(device.kinds));
  add_to(device_.l1_used_bytes, device.l1_total_bytes);
  device_.l1_peak_bytes = std::max(device_.l1_peak_bytes, Bytes(device.l1_total_peak_bytes));
  add_to(device_.cb_resident_bytes,
         device.cb_resident_known ? Bytes(device.cb_resident_bytes) : std::nullopt);
  add_to(device_.kernels_estimated_bytes, device.kernel_estimated_bytes);
  add_to(device_.kernels_persistent_bytes,
         saturating_add(device.kernel_role_bytes[1], device.kernel_role_bytes[2]));
  add_to(device_.programs, device.programs);
  for (const auto anomaly : kAnomalies) {
    std::uint64_t& sum = device_.anomalies.*anomaly;
    sum = saturating_add(sum, device.anomalies.*anomaly);
  }
  device_.anomalies.overlapping_buffers += geometry.overlaps;
  add_cores(device, geometry.cores);
}

void DeviceTotal::add_untracked(const RegionRow& row) {
  merge(device_.kinds, row.kinds);
  // A region does not have kernels: Total L1 is the sum of the rest, and kernels are unknown.
  for (const Kind kind : kAllKinds) {
    const Bytes used = row.kinds[kind].get(&KindFigures::used_bytes);
    if (is_in_l1(kind) && used) add_to(device_.l1_used_bytes, used);
  }
  for (Bytes* unknown : {&device_.cb_resident_bytes, &device_.kernels_persistent_bytes,
                         &device_.kernels_estimated_bytes, &device_.programs}) {
    unknown->reset();
  }
  cores_known_ = false;
}

// Certain to have been reached: the present total, and the peak of each single process.
void DeviceTotal::finish_peaks() {
  for (KindFigures& kind : device_.kinds) {
    const bool both = kind.get(&KindFigures::peak_bytes) && kind.get(&KindFigures::used_bytes);
    if (both) kind.peak_bytes = std::max(kind.peak_bytes, kind.used_bytes);
  }
  if (device_.l1_peak_bytes) {
    device_.l1_peak_bytes = std::max(device_.l1_peak_bytes, device_.l1_used_bytes);
  }
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
