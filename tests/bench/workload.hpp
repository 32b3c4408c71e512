// SPDX-License-Identifier: Apache-2.0
//
// The programs and buffers of the benchmarks.
#pragma once

#include <array>
#include <cstdint>

#include "support/device_calls.hpp"

namespace ttmem::bench {

using fixtures::kGrid;
using fixtures::kL1Base;
inline constexpr std::uint32_t kCbs = 8;

// Returns eight CBs on the full 8x8 grid, stacked from the base. Equal variants have equal layouts.
// The layouts of different variants end at different addresses.
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
  const ttmem_device_info info = fixtures::wormhole(id);
  ttmem_device_open(&info);
}

inline void place(std::uint32_t device, std::uint64_t program, std::uint64_t variant) {
  const auto cbs = cbs_of(variant);
  ttmem_program_place(device, program, cbs.data(), kCbs);
}

// Returns a buffer without a label, because the runtime's hooks report no labels.
inline ttmem_buffer dram_buffer(std::uint64_t id) {
  return fixtures::buffer(TTMEM_DRAM, id, id << 20, 1 << 20, 90112);
}

}  // namespace ttmem::bench
