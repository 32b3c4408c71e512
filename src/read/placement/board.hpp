// SPDX-License-Identifier: Apache-2.0
// The boards whose memory sizes are known: one table with the figures that TT-Metal uses for its
// own mock machines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ttmem::placement {

enum class Arch { wormhole_b0, blackhole };

// Returns the name as the runtime spells it, such as "wormhole_b0".
[[nodiscard]] std::string_view name_of(Arch arch);

// A number of columns and rows of cores.
struct Grid {
  std::uint32_t x = 0;
  std::uint32_t y = 0;

  friend bool operator==(const Grid&, const Grid&) = default;
};

// The properties that all chips of an architecture share.
struct ChipSpec {
  Arch arch = Arch::wormhole_b0;
  Grid noc_grid;  // all places on the die, for cores of any kind
  Grid die_grid;  // Tensix cores on the die
  std::uint32_t l1_bytes_per_core = 0;
  std::uint32_t l1_base = 0;  // address of the first circular buffer
  std::uint32_t l1_alignment = 0;
  std::uint64_t dram_bytes_per_channel = 0;
  std::uint64_t dram_base = 0;         // address of the first buffer in a bank
  std::uint32_t dram_alignment = 0;    // also the alignment of circular buffers
  std::uint32_t circular_buffers = 0;  // per core
};

// The properties of every chip of a board.
struct Board {
  std::string name;
  std::string system;  // the name of the whole system: a "t3000" has n300 boards
  ChipSpec chip;
  Grid tensix_grid;                // cores that are not harvested
  Grid compute_grid;               // cores for programs if dispatch runs on Tensix cores
  Grid compute_grid_eth_dispatch;  // cores for programs if dispatch runs on Ethernet cores
  std::uint32_t dram_channels = 0;
};

// Returns the names that find_board() knows, without a grid.
[[nodiscard]] std::vector<std::string_view> board_names();

// Finds a board by name, ignoring case and punctuation. Also finds card types such as "n150d" and
// "P100a", and names with the maker or the architecture. A compute grid may be appended:
// "p150:13x10". The error lists the known names or the largest grid.
[[nodiscard]] Result<Board> find_board(std::string_view name);

// Finds a chip by the name of its architecture. Returns null if the architecture is unknown.
[[nodiscard]] const ChipSpec* find_chip(std::string_view arch);

}  // namespace ttmem::placement
