// SPDX-License-Identifier: Apache-2.0
//
// Arguments that tests and benchmarks pass to the C interface and to the tracker.
#pragma once

#include <ttmem/ttmem.h>

#include <cstdint>

namespace ttmem::fixtures {

inline constexpr ttmem_core_range kGrid = {0, 0, 7, 7};
inline constexpr std::uint32_t kL1BytesPerCore = 1'499'136;
inline constexpr std::uint32_t kL1Base = 105'664;

// Returns an n150: 8x8 cores, 12 GiB of DRAM.
inline ttmem_device_info wormhole(std::uint32_t id) {
  ttmem_device_info info{};
  info.struct_size = sizeof info;
  info.id = id;
  info.uid = 0x1000 + id;
  info.arch = "wormhole_b0";
  info.board = "n150";
  info.grid_x = 8;
  info.grid_y = 8;
  info.l1_bytes_per_core = kL1BytesPerCore;
  info.l1_base = kL1Base;
  info.dram_channels = 12;
  info.dram_bytes_per_channel = 1U << 30;
  return info;
}

// Returns a buffer without a label. Fields without a parameter are zero.
inline ttmem_buffer buffer(ttmem_buffer_type type, std::uint64_t id, std::uint64_t address,
                           std::uint64_t bytes, std::uint64_t bytes_per_bank) {
  ttmem_buffer result{};
  result.struct_size = sizeof result;
  result.type = type;
  result.id = id;
  result.address = address;
  result.bytes = bytes;
  result.bytes_per_bank = bytes_per_bank;
  return result;
}

}  // namespace ttmem::fixtures
