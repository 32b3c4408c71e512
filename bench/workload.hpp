// SPDX-License-Identifier: Apache-2.0
//
// What the benchmarks place and allocate.
#pragma once

#include <ttmem/ttmem.h>

#include <array>
#include <cstdint>

namespace ttmem::bench {

inline constexpr ttmem_core_range kGrid = {0, 0, 7, 7};
inline constexpr std::uint32_t kCbs = 8;
inline constexpr std::uint64_t kL1Base = 105664;

// Eight CBs on the full 8x8 grid, stacked from the base. Programs of one variant have the same
// layout; different variants end at different addresses.
inline std::array<ttmem_cb, kCbs> cbs_of(std::uint64_t variant) {
  std::array<ttmem_cb, kCbs> cbs{};
  std::uint64_t address = kL1Base;
  for (std::uint64_t i = 0; i < kCbs; ++i) {
    const std::uint64_t bytes = 2048 * (1 + (variant + i) % 8) + 32 * (i == 0 ? variant : 0);
    cbs[i] = {address, bytes, &kGrid, 1, 0};
    address += bytes;
  }
  return cbs;
}

inline void open_device(std::uint32_t id) {
  ttmem_device_info info{};
  info.struct_size = sizeof info;
  info.id = id;
  info.uid = 0x5000 + id;
  info.arch = "wormhole_b0";
  info.board = "n300";
  info.grid_x = 8;
  info.grid_y = 8;
  info.l1_bytes_per_core = 1499136;
  info.l1_base = kL1Base;
  info.dram_channels = 12;
  info.dram_bytes_per_channel = 1U << 30;
  ttmem_device_open(&info);
}

inline void place(std::uint32_t device, std::uint64_t program, std::uint64_t variant) {
  const auto cbs = cbs_of(variant);
  ttmem_program_place(device, program, cbs.data(), kCbs);
}

// Without a label: the runtime's hooks have none.
inline ttmem_buffer dram_buffer(std::uint64_t id) {
  ttmem_buffer buffer{};
  buffer.struct_size = sizeof buffer;
  buffer.type = TTMEM_DRAM;
  buffer.id = id;
  buffer.address = id << 20;
  buffer.bytes = 1 << 20;
  buffer.bytes_per_bank = 90112;
  return buffer;
}

}  // namespace ttmem::bench
