// SPDX-License-Identifier: Apache-2.0
#include "read/imports/graph_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/core_mask.hpp"
#include "read/imports/kind_bits.hpp"
#include "read/imports/upstream_peaks.hpp"

namespace ttmem::imports {
namespace {

struct GraphGrid {
  std::uint32_t columns = 0;
  std::uint32_t rows = 0;

  void include(const CoreRange& range) {
    // std::min() prevents an overflow of the addition.
    columns = std::max(columns, std::min(range.x1, kMaxCores) + 1);
    rows = std::max(rows, std::min(range.y1, kMaxCores) + 1);
  }
};

}  // namespace

Result<recording::RecordedDevice> device_of(const Graph& graph) {
  const GraphDevice reported = graph.devices.empty() ? GraphDevice{} : graph.devices.front();
  GraphGrid grid{reported.grid_x, reported.grid_y};
  for (const std::vector<CoreRange>& ranges : graph.core_sets) {
    for (const CoreRange& range : ranges) grid.include(range);
  }
  if (grid.columns * grid.rows > kMaxCores) {
    return Error{
        fmt::format("it names cores of a grid of {} x {} or more; no device has more than {}",
                    grid.columns, grid.rows, kMaxCores)};
  }
  recording::RecordedDevice device;
  device.arch = reported.arch;
  device.grid_x = static_cast<std::uint16_t>(grid.columns);
  device.grid_y = static_cast<std::uint16_t>(grid.rows);
  device.l1_bytes_per_core = reported.l1_bytes_per_core;
  device.l1_base = reported.l1_base;
  if (reported.l1_bank_bytes != 0 &&
      reported.l1_bytes_per_core >= reported.l1_base + reported.l1_bank_bytes) {
    device.l1_small_bytes_per_core =
        reported.l1_bytes_per_core - reported.l1_base - reported.l1_bank_bytes;
  }
  device.dram_channels = reported.dram_channels;
  device.dram_bytes_per_channel = reported.dram_bytes_per_channel;
  device.known_kinds = kBufferBits | (shows_programs(graph.nodes) ? bit_of(Kind::cb) : 0);
  device.cb_estimate = std::ranges::any_of(graph.nodes, is_unplaced_cb);
  return device;
}

}  // namespace ttmem::imports
