// SPDX-License-Identifier: Apache-2.0
#include "read/placement/memory_map.hpp"

#include <string>

#include "read/placement/align.hpp"

namespace ttmem::placement {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

}  // namespace

std::uint64_t trace_bytes_per_channel(std::uint64_t trace_region_bytes, std::uint64_t channels) {
  return align_up(divide_up(trace_region_bytes, channels), kMaxTracePageBytes);
}

Result<MemoryMap> MemoryMap::make(const Board& board, const OpenSizes& sizes) {
  const ChipSpec& chip = board.chip;
  if (sizes.worker_l1_size > chip.l1_bytes_per_core) {
    return Error{"Worker L1 size " + number(sizes.worker_l1_size) + " is larger than max size " +
                 number(chip.l1_bytes_per_core)};
  }
  const MemoryMap map{
      .l1_alignment = chip.l1_alignment,
      .dram_alignment = chip.dram_alignment,
      .l1_base = sizes.worker_l1_size == 0
                     ? chip.l1_base
                     : align_up(chip.l1_bytes_per_core - sizes.worker_l1_size, chip.dram_alignment),
      .l1_bytes = chip.l1_bytes_per_core,
      .l1_small_bytes = align_up(sizes.l1_small_size, chip.dram_alignment),
      .dram_channels = board.dram_channels,
      .dram_base = chip.dram_base,
      .dram_bytes_per_channel = chip.dram_bytes_per_channel,
      .trace_region_bytes = align_up(sizes.trace_region_size, chip.dram_alignment),
  };
  // The unrounded sizes are compared too, because rounding up a size near 2^64 gives 0.
  const std::uint64_t l1_room = map.l1_bytes - map.l1_base;
  if (sizes.l1_small_size >= l1_room || map.l1_small_bytes >= l1_room) {
    return Error{"Reserved size must be less than bank size: l1_small_size " +
                 number(sizes.l1_small_size) + " of " + number(l1_room)};
  }
  const std::uint64_t trace = trace_bytes_per_channel(map.trace_region_bytes, map.dram_channels);
  const std::uint64_t dram_room = map.dram_bytes_per_channel - map.dram_base;
  if (sizes.trace_region_size / map.dram_channels >= dram_room || trace >= dram_room) {
    return Error{"Reserved size must be less than bank size: trace_region_size " +
                 number(sizes.trace_region_size) + " over " + number(map.dram_channels) +
                 " channels of " + number(map.dram_bytes_per_channel)};
  }
  return map;
}

MemoryMap MemoryMap::of_sub_device(std::uint64_t local_l1_bytes) const {
  MemoryMap map = *this;
  map.l1_bytes = l1_base + local_l1_bytes;
  map.l1_small_bytes = 0;
  map.dram_bytes_per_channel = dram_base;
  map.trace_region_bytes = 0;
  return map;
}

MemoryRange MemoryMap::region(Kind kind) const {
  const std::uint64_t small = l1_bytes - l1_small_bytes;
  const std::uint64_t trace =
      dram_bytes_per_channel - trace_bytes_per_channel(trace_region_bytes, dram_channels);
  switch (kind) {
    case Kind::dram:
      return {dram_base, trace};
    case Kind::trace:
      return {trace, dram_bytes_per_channel};
    case Kind::l1:
      return {l1_base, small};
    case Kind::l1_small:
      return {small, l1_bytes};
    default:
      return {};
  }
}

std::uint32_t MemoryMap::page_alignment(Kind kind) const {
  return is_in_l1(kind) ? l1_alignment : dram_alignment;
}

}  // namespace ttmem::placement
