// SPDX-License-Identifier: Apache-2.0
#include "read/placement/board.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <initializer_list>
#include <optional>

namespace ttmem::placement {
namespace {

constexpr ChipSpec kWormhole = {.arch = Arch::wormhole_b0,
                                .noc_grid = {10, 12},
                                .die_grid = {8, 10},
                                .l1_bytes_per_core = 1499136,
                                .l1_base = 105664,
                                .l1_alignment = 16,
                                .dram_bytes_per_channel = 1ull << 30,
                                .dram_base = 1048640,
                                .dram_alignment = 32,
                                .circular_buffers = 32};

constexpr ChipSpec kBlackhole = {.arch = Arch::blackhole,
                                 .noc_grid = {17, 12},
                                 .die_grid = {14, 10},
                                 .l1_bytes_per_core = 1572864,
                                 .l1_base = 111616,
                                 .l1_alignment = 16,
                                 .dram_bytes_per_channel = 4278190080,
                                 .dram_base = 1048704,
                                 .dram_alignment = 64,
                                 .circular_buffers = 64};

// Dispatch on Tensix cores takes the last row that is not harvested.
Board wormhole(std::string_view board, std::string_view system, Grid tensix_grid, Grid compute_grid,
               Grid compute_grid_eth_dispatch) {
  return {.name = std::string(board),
          .system = std::string(system),
          .chip = kWormhole,
          .tensix_grid = tensix_grid,
          .compute_grid = compute_grid,
          .compute_grid_eth_dispatch = compute_grid_eth_dispatch,
          .dram_channels = 12};
}

// The die has 14 columns. One column is for dispatch, and one or two columns are harvested. A user
// can state another compute grid, see find_board().
Board blackhole(std::string_view board, std::string_view system, std::uint32_t dram_channels,
                std::uint32_t columns) {
  const Grid compute_grid{columns, 10};
  return {.name = std::string(board),
          .system = std::string(system),
          .chip = kBlackhole,
          .tensix_grid = {columns + 1, 10},
          .compute_grid = compute_grid,
          .compute_grid_eth_dispatch = compute_grid,
          .dram_channels = dram_channels};
}

// Returns the n300 board of a system with this name.
Board n300(std::string_view system) { return wormhole("n300", system, {8, 8}, {8, 7}, {8, 8}); }

// Returns the name without the maker and the architecture: "blackholep150b" becomes "p150b". A
// galaxy keeps its architecture, which distinguishes the two galaxies.
std::string_view without_maker(std::string_view name) {
  for (const std::string_view maker : {"tenstorrent", "tt"}) {
    if (name.starts_with(maker)) name.remove_prefix(maker.size());
  }
  if (name.ends_with("galaxy")) return name;
  for (const std::string_view arch : {"wormhole", "blackhole"}) {
    if (name.starts_with(arch)) name.remove_prefix(arch.size());
  }
  return name;
}

// Expects a name from normalized(), without the maker. The letters after the number of a card name
// its cooling or its form; they do not concern the memory.
std::optional<Board> known_board(std::string_view name) {
  const auto is_one_of = [name](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (is_one_of({"n150", "n150s", "n150d"}))
    return wormhole("n150", "n150", {8, 9}, {8, 8}, {8, 8});
  if (is_one_of({"n300", "n300s", "n300d"})) return n300("n300");
  if (name == "n3002x2") return n300("n300_2x2");
  if (is_one_of({"t3000", "t3k"})) return n300("t3000");
  if (is_one_of({"galaxy", "whgalaxy", "wormholegalaxy", "galaxywormhole"})) {
    return wormhole("galaxy", "galaxy", {8, 10}, {8, 9}, {8, 10});
  }
  if (is_one_of({"p100", "p100a"})) return blackhole("p100", "p100", 7, 11);
  if (is_one_of({"p150", "p150a", "p150b", "p150c"})) return blackhole("p150", "p150", 8, 11);
  if (is_one_of({"p300", "p300a", "p300b", "p300c"})) return blackhole("p300", "p300", 8, 11);
  if (name == "p150x4") return blackhole("p150", "p150_x4", 8, 11);
  if (name == "p150x8") return blackhole("p150", "p150_x8", 8, 12);
  if (is_one_of({"bhgalaxy", "blackholegalaxy", "galaxyblackhole"})) {
    return blackhole("bh_galaxy", "bh_galaxy", 8, 12);
  }
  return std::nullopt;
}

std::string normalized(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return plain;
}

// Parses "13x10".
std::optional<Grid> parse_grid(std::string_view text) {
  Grid grid;
  const char* const end = text.data() + text.size();
  const auto [x_end, x_error] = std::from_chars(text.data(), end, grid.x);
  if (x_error != std::errc{} || x_end == end || *x_end != 'x') return std::nullopt;
  const auto [y_end, y_error] = std::from_chars(x_end + 1, end, grid.y);
  if (y_error != std::errc{} || y_end != end) return std::nullopt;
  return grid;
}

// Returns the compute grid plus the row or column for dispatch, at most the grid of the die.
Grid with_dispatch(const Board& board) {
  Grid grid = board.compute_grid;
  if (board.chip.arch == Arch::blackhole) {
    grid.x = std::min(grid.x + 1, board.chip.die_grid.x);
  } else {
    grid.y = std::min(grid.y + 1, board.chip.die_grid.y);
  }
  return grid;
}

std::string listed(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

}  // namespace

std::string_view name_of(Arch arch) {
  return arch == Arch::wormhole_b0 ? "wormhole_b0" : "blackhole";
}

std::vector<std::string_view> board_names() {
  return {"n150",      "n300",     "t3000", "galaxy",  "p100",   "p150",
          "bh_galaxy", "n300_2x2", "p300",  "p150_x4", "p150_x8"};
}

Result<Board> find_board(std::string_view name) {
  const auto colon = name.find(':');
  const std::string plain = normalized(name.substr(0, colon));
  auto board = known_board(without_maker(plain));
  if (!board) {
    return Error{std::string(name) + " is not a known system; use one of " + listed(board_names())};
  }
  if (colon == std::string_view::npos) return *std::move(board);

  const auto grid = parse_grid(name.substr(colon + 1));
  const Grid most = board->chip.die_grid;
  if (!grid || grid->x == 0 || grid->y == 0 || grid->x > most.x || grid->y > most.y) {
    return Error{std::string(name) + " has no usable compute grid; give columns x rows, at most " +
                 std::to_string(most.x) + "x" + std::to_string(most.y) + " on this chip"};
  }
  board->compute_grid = board->compute_grid_eth_dispatch = *grid;
  board->tensix_grid = with_dispatch(*board);
  return *std::move(board);
}

const ChipSpec* find_chip(std::string_view arch) {
  for (const ChipSpec* chip : {&kWormhole, &kBlackhole}) {
    if (name_of(chip->arch) == arch) return chip;
  }
  return nullptr;
}

}  // namespace ttmem::placement
