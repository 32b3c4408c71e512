// SPDX-License-Identifier: Apache-2.0
#include "describe.hpp"

#include <tt-metalium/allocator.hpp>

namespace ttmem::tt_metal {

namespace tm = ::tt::tt_metal;

namespace {

// Returns the value of Buffer::is_l1(), without a call into the runtime.
bool is_l1(const tm::Buffer& buffer) {
  const tm::BufferType type = buffer.buffer_type();
  return type == tm::BufferType::L1 || type == tm::BufferType::L1_SMALL;
}

// Returns true if a sub-device's allocator placed the buffer. This allocator covers only the cores
// of the sub-device.
bool is_of_sub_device(const tm::Buffer& buffer) {
  return is_l1(buffer) && buffer.sub_device_id().has_value();
}

const char* name_of(tt::ARCH arch) {
  switch (arch) {
    case tt::ARCH::WORMHOLE_B0:
      return "wormhole_b0";
    case tt::ARCH::BLACKHOLE:
      return "blackhole";
    case tt::ARCH::QUASAR:
      return "quasar";
    default:
      return nullptr;
  }
}

}  // namespace

std::vector<tm::IDevice*> chips_of(const tm::IDevice* device) {
  using tm::distributed::MeshDevice;
  if (const auto* mesh = dynamic_cast<const MeshDevice*>(device)) return mesh->get_devices();
  return {const_cast<tm::IDevice*>(device)};
}

std::vector<ttmem_core_range> ranges_of(const tm::CoreRangeSet& cores) {
  std::vector<ttmem_core_range> ranges;
  for (const tm::CoreRange& range : cores.ranges()) ranges.push_back(core_range(range));
  return ranges;
}

tm::CoreRangeSet all_cores(const tm::IDevice& device) {
  const tm::CoreCoord grid = device.compute_with_storage_grid_size();
  return tm::CoreRangeSet(tm::CoreRange({0, 0}, {grid.x - 1, grid.y - 1}));
}

ttmem_device_info device_info(const tm::IDevice& chip) {
  const auto& allocator = *chip.allocator();
  const auto grid = chip.compute_with_storage_grid_size();
  ttmem_device_info info{};
  info.struct_size = sizeof(info);
  info.id = number_of(chip);
  info.arch = name_of(chip.arch());
  info.grid_x = static_cast<std::uint16_t>(grid.x);
  info.grid_y = static_cast<std::uint16_t>(grid.y);
  info.l1_bytes_per_core = chip.l1_size_per_core();
  info.l1_base = static_cast<std::uint32_t>(allocator.get_base_allocator_addr(tm::HalMemType::L1));
  info.l1_small_bytes_per_core =
      static_cast<std::uint32_t>(allocator.get_bank_size(tm::BufferType::L1_SMALL));
  info.dram_channels = static_cast<std::uint32_t>(chip.num_dram_channels());
  info.dram_bytes_per_channel = chip.dram_size_per_channel();
  info.trace_region_bytes = allocator.get_bank_size(tm::BufferType::TRACE) *
                            allocator.get_num_banks(tm::BufferType::TRACE);
  return info;
}

std::vector<ttmem_core_range> cores_of(const tm::Buffer& buffer) {
  const bool is_sharded = buffer.buffer_layout() != tm::TensorMemoryLayout::INTERLEAVED;
  if (!is_sharded) return {};
  if (is_of_sub_device(buffer)) {
    return ranges_of(buffer.device()->worker_cores(tm::HalProgrammableCoreType::TENSIX,
                                                   *buffer.sub_device_id()));
  }
  if (buffer.has_shard_spec()) return ranges_of(buffer.shard_spec().grid());
  std::vector<ttmem_core_range> ranges;
  if (const auto& spec = buffer.buffer_distribution_spec()) {
    const auto cores = spec->cores_with_data();
    for (const auto& core : cores) {
      const auto x = static_cast<std::uint16_t>(core.x);
      const auto y = static_cast<std::uint16_t>(core.y);
      ranges.push_back({x, y, x, y});
    }
  }
  return ranges;
}

ttmem_buffer describe(const tm::Buffer& buffer, const std::vector<ttmem_core_range>& cores,
                      const char* label) {
  ttmem_buffer record{};
  record.struct_size = sizeof(record);
  record.type = type_of(buffer);
  record.id = tracker_id(buffer);
  record.address = buffer.address();
  record.bytes = buffer.size();
  record.cores = cores.data();
  record.core_ranges = static_cast<std::uint32_t>(cores.size());
  record.label = label;
  record.flags =
      (is_of_sub_device(buffer) ? TTMEM_BUFFER_OWN_BANKS : 0) |
      (buffer.buffer_layout() == tm::TensorMemoryLayout::INTERLEAVED ? TTMEM_BUFFER_INTERLEAVED
                                                                     : TTMEM_BUFFER_SHARDED) |
      (buffer.bottom_up() ? TTMEM_BUFFER_BOTTOM_UP : TTMEM_BUFFER_TOP_DOWN);
  record.page_bytes = buffer.page_size();
  return record;
}

}  // namespace ttmem::tt_metal
