// SPDX-License-Identifier: Apache-2.0
#include "analyse/fit/target.hpp"

#include <algorithm>

namespace ttmem::fit {
namespace {

using placement::Board;
using recording::RecordedDevice;

// Returns the properties of a device that determine its target.
RecordedDevice shape_of(const RecordedDevice& device) {
  RecordedDevice shape;
  shape.arch = device.arch;
  shape.board = device.board;
  shape.grid_x = device.grid_x;
  shape.grid_y = device.grid_y;
  shape.l1_bytes_per_core = device.l1_bytes_per_core;
  shape.l1_base = device.l1_base;
  shape.l1_small_bytes_per_core = device.l1_small_bytes_per_core;
  shape.dram_channels = device.dram_channels;
  shape.trace_region_bytes = device.trace_region_bytes;
  return shape;
}

placement::Grid grid_of(const RecordedDevice& device) { return {device.grid_x, device.grid_y}; }

// Returns true if Ethernet cores dispatched the programs on the recorded device. Recognises this by
// the compute grid, which then includes the cores that otherwise dispatch.
bool dispatches_on_ethernet(const RecordedDevice& device) {
  const auto own = placement::find_board(device.board);
  return own && own->compute_grid != own->compute_grid_eth_dispatch &&
         grid_of(device) == own->compute_grid_eth_dispatch;
}

// Returns the sizes with which the recorded device was opened, except for sizes that the options
// replace.
placement::OpenSizes sizes_of(const RecordedDevice& device, const placement::ChipSpec* chip,
                              const CarryOptions& options) {
  placement::OpenSizes sizes;
  sizes.l1_small_size = options.l1_small_size.value_or(device.l1_small_bytes_per_core);
  sizes.trace_region_size = options.trace_region_size.value_or(device.trace_region_bytes);
  const bool has_other_base = chip != nullptr && device.l1_base != 0 &&
                              device.l1_base != chip->l1_base &&
                              device.l1_base < device.l1_bytes_per_core;
  if (has_other_base) sizes.worker_l1_size = device.l1_bytes_per_core - device.l1_base;
  return sizes;
}

Result<Target> target_for(const RecordedDevice& shape, const Board& board,
                          const CarryOptions& options) {
  Target target{.recorded = shape, .chip = placement::find_chip(shape.arch), .grid = {}, .map = {}};
  target.grid =
      dispatches_on_ethernet(shape) ? board.compute_grid_eth_dispatch : board.compute_grid;
  const auto map = placement::MemoryMap::make(board, sizes_of(shape, target.chip, options));
  if (!map) return Error{board.system + " cannot be opened so: " + map.error().message};
  target.map = *map;
  target.estimate = options.estimate;
  return target;
}

}  // namespace

Result<Targets> find_targets(const recording::Tables& tables, const Board& board,
                             const CarryOptions& options) {
  Targets found;
  for (const RecordedDevice& device : tables.devices) {
    const RecordedDevice shape = shape_of(device);
    auto known = std::find_if(found.targets.begin(), found.targets.end(),
                              [&](const Target& target) { return target.recorded == shape; });
    if (known == found.targets.end()) {
      auto target = target_for(shape, board, options);
      if (!target) return target.error();
      known = found.targets.insert(known, *std::move(target));
    }
    found.of_device.push_back(static_cast<std::uint32_t>(known - found.targets.begin()));
  }
  return found;
}

RecordedDevice on_board(RecordedDevice device, const Board& board, const Target& target) {
  device.arch = placement::name_of(board.chip.arch);
  device.board = board.name;
  device.grid_x = static_cast<std::uint16_t>(target.grid.x);
  device.grid_y = static_cast<std::uint16_t>(target.grid.y);
  device.l1_bytes_per_core = static_cast<std::uint32_t>(target.map.l1_bytes);
  device.l1_base = static_cast<std::uint32_t>(target.map.l1_base);
  device.l1_small_bytes_per_core = static_cast<std::uint32_t>(target.map.l1_small_bytes);
  device.dram_channels = target.map.dram_channels;
  device.dram_bytes_per_channel = target.map.dram_bytes_per_channel;
  device.trace_region_bytes = target.map.trace_region_bytes;
  return device;
}

}  // namespace ttmem::fit
