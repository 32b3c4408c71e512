// SPDX-License-Identifier: Apache-2.0
#include "demo/simulated_device.hpp"

#include <algorithm>

namespace ttmem::demo {
namespace {

std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

bool is_l1(ttmem_buffer_type type) { return type == TTMEM_L1 || type == TTMEM_L1_SMALL; }

bool overlap(const ttmem_core_range& a, const ttmem_core_range& b) {
  return a.x0 <= b.x1 && b.x0 <= a.x1 && a.y0 <= b.y1 && b.y0 <= a.y1;
}

std::uint64_t count(const ttmem_core_range& range) {
  return (range.x1 - range.x0 + 1ULL) * (range.y1 - range.y0 + 1ULL);
}

}  // namespace

SimulatedDevice::SimulatedDevice(const Chip& chip, std::uint32_t id, const MemoryConfig& config)
    : chip_(chip),
      id_(id),
      dram_(chip.dram_base, chip.dram_bytes_per_view - config.trace_bytes_per_bank,
            chip.dram_alignment, Region::From::bottom),
      trace_(chip.dram_bytes_per_view - config.trace_bytes_per_bank, chip.dram_bytes_per_view,
             chip.dram_alignment, Region::From::bottom),
      l1_(chip.l1_base, chip.l1_bytes_per_core - config.l1_small_bytes_per_core, chip.l1_alignment,
          Region::From::top),
      l1_small_(chip.l1_bytes_per_core - config.l1_small_bytes_per_core, chip.l1_bytes_per_core,
                chip.l1_alignment, Region::From::top) {
  open(config);
}

SimulatedDevice::~SimulatedDevice() { ttmem_device_close(id_); }

void SimulatedDevice::open(const MemoryConfig& config) const {
  ttmem_device_info info{};
  info.struct_size = sizeof info;
  info.id = id_;
  info.uid = chip_.first_uid + id_;
  info.arch = chip_.arch;
  info.board = chip_.board;
  info.grid_x = chip_.grid_x;
  info.grid_y = chip_.grid_y;
  info.l1_bytes_per_core = chip_.l1_bytes_per_core;
  info.l1_base = chip_.l1_base;
  info.l1_small_bytes_per_core = config.l1_small_bytes_per_core;
  info.dram_channels = chip_.dram_views;
  info.dram_bytes_per_channel = chip_.dram_bytes_per_view;
  info.trace_region_bytes = config.trace_bytes_per_bank * chip_.dram_views;
  ttmem_device_open(&info);
}

std::optional<std::uint64_t> SimulatedDevice::allocate(const Tensor& tensor) {
  const std::uint64_t per_bank = bytes_per_bank(tensor);
  const std::optional<std::uint64_t> address = region_of(tensor.type).allocate(per_bank);
  if (!address) return std::nullopt;

  ttmem_buffer buffer{};
  buffer.struct_size = sizeof buffer;
  buffer.type = tensor.type;
  buffer.id = ++buffers_;
  buffer.address = *address;
  buffer.bytes = tensor.page_bytes * tensor.pages;
  buffer.bytes_per_bank = per_bank;
  if (tensor.shards) {
    buffer.cores = &*tensor.shards;
    buffer.core_ranges = 1;
  }
  buffer.label = tensor.label.c_str();
  ttmem_buffer_alloc(id_, &buffer);
  live_.emplace(buffer.id, Live{tensor.type, *address});
  return buffer.id;
}

void SimulatedDevice::free(std::uint64_t buffer) {
  const auto found = live_.find(buffer);
  if (found == live_.end()) return;
  region_of(found->second.type).release(found->second.address);
  ttmem_buffer_free(id_, found->second.type, buffer);
  live_.erase(found);
}

void SimulatedDevice::place(std::uint64_t program, const std::vector<CbRequest>& cbs) {
  const ttmem_core_range grid = {0, 0, static_cast<std::uint16_t>(chip_.grid_x - 1),
                                 static_cast<std::uint16_t>(chip_.grid_y - 1)};
  std::vector<ttmem_core_range> ranges;
  ranges.reserve(cbs.size());  // the CBs point into it
  std::vector<ttmem_cb> placed;
  for (const CbRequest& request : cbs) {
    const ttmem_core_range& cores = ranges.emplace_back(request.cores.value_or(grid));
    std::uint64_t address = chip_.l1_base;
    for (const ttmem_cb& earlier : placed) {
      if (!overlap(*earlier.cores, cores)) continue;
      address = std::max(address, align_up(earlier.address + earlier.bytes, chip_.dram_alignment));
    }
    placed.push_back(ttmem_cb{address, request.bytes, &cores, 1, 0});
  }
  ttmem_program_place(id_, program, placed.data(), static_cast<std::uint32_t>(placed.size()));
}

Region& SimulatedDevice::region_of(ttmem_buffer_type type) {
  switch (type) {
    case TTMEM_L1:
      return l1_;
    case TTMEM_L1_SMALL:
      return l1_small_;
    case TTMEM_TRACE:
      return trace_;
    default:
      return dram_;
  }
}

std::uint64_t SimulatedDevice::bytes_per_bank(const Tensor& tensor) const {
  const std::uint64_t all = is_l1(tensor.type) ? chip_.cores() : chip_.dram_views;
  const std::uint64_t banks = tensor.shards ? count(*tensor.shards) : all;
  const std::uint64_t alignment = is_l1(tensor.type) ? chip_.l1_alignment : chip_.dram_alignment;
  return align_up(tensor.page_bytes, alignment) * ((tensor.pages + banks - 1) / banks);
}

}  // namespace ttmem::demo
