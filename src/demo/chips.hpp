// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ttmem::demo {

// What a runtime knows of a chip. The figures are those that TT-Metal itself reports.
struct Chip {
  const char* arch;
  const char* board;
  std::uint16_t grid_x;
  std::uint16_t grid_y;
  std::uint32_t l1_bytes_per_core;
  std::uint32_t l1_base;  // first address for CBs: firmware and the kernel ring are below
  std::uint32_t l1_alignment;
  std::uint32_t dram_views;
  std::uint64_t dram_bytes_per_view;
  std::uint64_t dram_base;
  std::uint32_t dram_alignment;  // of CBs too
  std::uint64_t first_uid;       // made up: nobody owns these chips

  [[nodiscard]] constexpr std::uint32_t cores() const {
    return static_cast<std::uint32_t>(grid_x) * grid_y;
  }
};

[[nodiscard]] constexpr Chip wormhole(const char* board, std::uint16_t rows,
                                      std::uint64_t first_uid) {
  return {.arch = "wormhole_b0",
          .board = board,
          .grid_x = 8,
          .grid_y = rows,
          .l1_bytes_per_core = 1499136,
          .l1_base = 105664,
          .l1_alignment = 16,
          .dram_views = 12,
          .dram_bytes_per_view = 1073741824,
          .dram_base = 1048640,
          .dram_alignment = 32,
          .first_uid = first_uid};
}

inline constexpr Chip kN150 = wormhole("n150", 8, 0x150a01);
inline constexpr Chip kN300 = wormhole("n300", 8, 0x300b01);  // with Ethernet dispatch
inline constexpr Chip kGalaxy = wormhole("galaxy", 9, 0x6a1c01);
inline constexpr Chip kP150 = {.arch = "blackhole",
                               .board = "p150",
                               .grid_x = 13,
                               .grid_y = 10,
                               .l1_bytes_per_core = 1572864,
                               .l1_base = 111616,
                               .l1_alignment = 16,
                               .dram_views = 8,
                               .dram_bytes_per_view = 4278190080,
                               .dram_base = 1048704,
                               .dram_alignment = 64,
                               .first_uid = 0xb1500d};

}  // namespace ttmem::demo
