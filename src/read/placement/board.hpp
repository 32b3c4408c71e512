// SPDX-License-Identifier: Apache-2.0
//
// The boards whose memory is known: figures only, all in one table, as TT-Metal has them for its
// own mock machines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ttmem::placement {

enum class Arch { wormhole_b0, blackhole };

// "wormhole_b0", as the runtime spells it.
[[nodiscard]] std::string_view name_of(Arch arch);

// Columns and rows of cores.
struct Grid {
  std::uint32_t x = 0;
  std::uint32_t y = 0;

  friend bool operator==(const Grid&, const Grid&) = default;
};

// What all chips of an architecture have.
struct Chip {
  Arch arch = Arch::wormhole_b0;
  Grid noc_grid;  // places on the die, for cores of any kind
  Grid die_grid;  // Tensix cores on the die
  std::uint32_t l1_bytes_per_core = 0;
  std::uint32_t l1_base = 0;  // of the first circular buffer
  std::uint32_t l1_alignment = 0;
  std::uint64_t dram_bytes_per_channel = 0;
  std::uint64_t dram_base = 0;         // of the first buffer in a bank
  std::uint32_t dram_alignment = 0;    // also that of circular buffers
  std::uint32_t circular_buffers = 0;  // per core
};

// What every chip of a board has.
struct Board {
  std::string name;
  std::string system;  // the name that it was found by: "t3000" is one of boards n300
  Chip chip;
  Grid tensix_grid;                // not harvested
  Grid compute_grid;               // left for programs when dispatch runs on Tensix cores
  Grid compute_grid_eth_dispatch;  // and when it runs on Ethernet cores
  std::uint32_t dram_channels = 0;
};

// What find_board() knows, without a grid.
[[nodiscard]] std::vector<std::string_view> board_names();

// By name, case and punctuation aside, and with a compute grid of its own when one is appended:
// "p150:13x10". The error names the names or the grids that there are.
[[nodiscard]] Result<Board> find_board(std::string_view name);

// By the name of the architecture. Null: not one that is known.
[[nodiscard]] const Chip* find_chip(std::string_view arch);

}  // namespace ttmem::placement
