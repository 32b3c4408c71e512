// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/chip_report.hpp"

#include <algorithm>

#include "base/safe_text.hpp"

namespace ttmem::report {
namespace {

using recording::RowId;

Bytes product(std::uint64_t a, std::uint64_t b) {
  return a != 0 && b != 0 ? Bytes(a * b) : std::nullopt;
}

}  // namespace

DeviceReport describe(const Tables& tables, const RecordedChip& chip) {
  DeviceReport device;
  for (const RowId row : chip.rows) {
    const recording::RecordedDevice& said = tables.device(row);
    device.ids.push_back(said.number);
    if (device.uid == 0) device.uid = said.uid;
    if (device.arch.empty()) device.arch = safe_text(said.arch);
    if (device.board.empty()) device.board = safe_text(said.board);
    if (!device.dram_capacity) {
      device.dram_capacity = product(said.dram_channels, said.dram_bytes_per_channel);
      device.dram_channels = said.dram_channels;
    }
    const std::uint64_t cores = std::uint64_t{said.grid_x} * said.grid_y;
    if (!device.l1_capacity) device.l1_capacity = product(cores, said.l1_bytes_per_core);
    if (!device.trace_region && said.dram_channels != 0) {
      device.trace_region = said.trace_region_bytes;
    }
    if (!device.l1_small_region && said.l1_bytes_per_core != 0) {
      device.l1_small_region = said.l1_small_bytes_per_core;
    }
  }
  std::sort(device.ids.begin(), device.ids.end());
  device.ids.erase(std::unique(device.ids.begin(), device.ids.end()), device.ids.end());
  device.id = device.ids.front();
  return device;
}

void set_extremes(const ChipFigures& figures, DeviceReport& device) {
  for (const Kind kind : kDeviceKinds) device.peak[kind] = figures.peak(kind).extreme();
  device.l1_peak = figures.l1_peak().extreme();
  for (const Kind kind : kBankKinds) {
    device.least_largest_free[kind] = figures.least_largest_free(kind).extreme();
  }
  device.least_headroom = figures.least_headroom().extreme();
  if (figures.l1_small_per_core().is_set) {
    device.l1_small_peak_per_core = static_cast<std::uint64_t>(figures.l1_small_per_core().bytes);
  }
}

DeviceReport chip_report(const Tables& tables, const RecordedChip& chip,
                         const ChipFigures& figures) {
  DeviceReport device = describe(tables, chip);
  set_extremes(figures, device);
  return device;
}

}  // namespace ttmem::report
