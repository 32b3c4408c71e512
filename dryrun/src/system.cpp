// SPDX-License-Identifier: Apache-2.0
#include "system.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>
#include <optional>

#include "error.hpp"

namespace tt::tt_metal::dryrun {
namespace {

constexpr std::uint64_t kGiB = 1ull << 30;

// Dispatch takes the last row of those that are not harvested, or none when it runs on Ethernet
// cores.
Board wormhole(std::string name, CoreCoord tensix_grid, CoreCoord compute_grid,
               CoreCoord compute_grid_eth_dispatch) {
  return {.name = std::move(name),
          .arch = tt::ARCH::WORMHOLE_B0,
          .noc_grid = {10, 12},
          .die_grid = {8, 10},
          .tensix_grid = tensix_grid,
          .compute_grid = compute_grid,
          .compute_grid_eth_dispatch = compute_grid_eth_dispatch,
          .l1_bytes_per_core = 1499136,
          .l1_base = 105664,
          .l1_alignment = 16,
          .dram_channels = 12,
          .dram_bytes_per_channel = kGiB,
          .dram_base = 1048640,
          .dram_alignment = 32,
          .circular_buffers = 32};
}

// A column of the die's 14 is for dispatch, and one or two are harvested; another grid can be asked
// for.
Board blackhole(std::string name, std::uint32_t dram_channels, CoreCoord compute_grid) {
  return {.name = std::move(name),
          .arch = tt::ARCH::BLACKHOLE,
          .noc_grid = {17, 12},
          .die_grid = {14, 10},
          .tensix_grid = {compute_grid.x + 1, compute_grid.y},
          .compute_grid = compute_grid,
          .compute_grid_eth_dispatch = compute_grid,
          .l1_bytes_per_core = 1572864,
          .l1_base = 111616,
          .l1_alignment = 16,
          .dram_channels = dram_channels,
          .dram_bytes_per_channel = 4278190080,
          .dram_base = 1048704,
          .dram_alignment = 64,
          .circular_buffers = 64};
}

std::vector<ChipId> numbered(int count) {
  std::vector<ChipId> chips(static_cast<std::size_t>(count));
  std::iota(chips.begin(), chips.end(), 0);
  return chips;
}

// Four trays of eight chips. The mesh runs down two of them and up the others.
std::vector<ChipId> wormhole_galaxy_chips() {
  return {0,  16, 18, 2,  4, 20, 22, 6,  8, 24, 26, 10, 12, 28, 30, 14,
          13, 29, 31, 15, 9, 25, 27, 11, 5, 21, 23, 7,  1,  17, 19, 3};
}

std::vector<ChipId> blackhole_galaxy_chips() {
  return {0,  4,  12, 8,  1,  5,  13, 9,  2,  6,  14, 10, 3,  7,  15, 11,
          27, 31, 23, 19, 26, 30, 22, 18, 25, 29, 21, 17, 24, 28, 20, 16};
}

// Grids, shapes and orders of chips are what TT-Metal gives for its own mock machines of that size.
std::optional<System> known_wormhole(const std::string& name) {
  using distributed::MeshShape;
  if (name.empty() || name == "n150") {
    return System{wormhole("n150", {8, 9}, {8, 8}, {8, 8}), MeshShape(1, 1), numbered(1)};
  }
  if (name == "n300") {
    return System{wormhole("n300", {8, 8}, {8, 7}, {8, 8}), MeshShape(2, 1), numbered(2), {1}};
  }
  if (name == "n3002x2") {
    return System{wormhole("n300", {8, 8}, {8, 7}, {8, 8}), MeshShape(2, 2), {0, 1, 3, 2}, {1, 3}};
  }
  if (name == "t3000" || name == "t3k") {
    // The chips behind PCIe are 0 to 3, their remote halves 4 to 7.
    return System{wormhole("n300", {8, 8}, {8, 7}, {8, 8}),
                  MeshShape(2, 4),
                  {4, 0, 2, 6, 5, 1, 3, 7},
                  {4, 5, 6, 7}};
  }
  if (name == "galaxy" || name == "whgalaxy" || name == "wormholegalaxy") {
    return System{wormhole("galaxy", {8, 10}, {8, 9}, {8, 10}), MeshShape(8, 4),
                  wormhole_galaxy_chips()};
  }
  return std::nullopt;
}

std::optional<System> known_blackhole(const std::string& name) {
  using distributed::MeshShape;
  const CoreCoord one_harvested{12, 10};
  const CoreCoord two_harvested{11, 10};
  if (name == "p100") {
    return System{blackhole("p100", 7, two_harvested), MeshShape(1, 1), numbered(1)};
  }
  if (name == "p150") {
    return System{blackhole("p150", 8, two_harvested), MeshShape(1, 1), numbered(1)};
  }
  if (name == "p300") {
    return System{blackhole("p300", 8, two_harvested), MeshShape(2, 1), numbered(2)};
  }
  if (name == "p150x4") {
    return System{blackhole("p150", 8, two_harvested), MeshShape(2, 2), {2, 1, 0, 3}};
  }
  if (name == "p150x8") {
    return System{blackhole("p150", 8, one_harvested), MeshShape(2, 4), {0, 2, 3, 1, 4, 6, 7, 5}};
  }
  if (name == "bhgalaxy" || name == "blackholegalaxy") {
    return System{blackhole("bh_galaxy", 8, one_harvested), MeshShape(8, 4),
                  blackhole_galaxy_chips()};
  }
  return std::nullopt;
}

std::optional<System> known_system(const std::string& name) {
  auto system = known_wormhole(name);
  return system ? system : known_blackhole(name);
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

// "13x10"
std::optional<CoreCoord> parse_grid(std::string_view text) {
  CoreCoord grid;
  const char* const end = text.data() + text.size();
  const auto [x_end, x_error] = std::from_chars(text.data(), end, grid.x);
  if (x_error != std::errc{} || x_end == end || *x_end != 'x') return std::nullopt;
  const auto [y_end, y_error] = std::from_chars(x_end + 1, end, grid.y);
  if (y_error != std::errc{} || y_end != end) return std::nullopt;
  return grid;
}

// With the row or column that is for dispatch, as far as the die has one to spare.
CoreCoord with_dispatch(const Board& board) {
  CoreCoord grid = board.compute_grid;
  if (board.arch == tt::ARCH::BLACKHOLE) {
    grid.x = std::min(grid.x + 1, board.die_grid.x);
  } else {
    grid.y = std::min(grid.y + 1, board.die_grid.y);
  }
  return grid;
}

std::string listed(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

}  // namespace

std::vector<std::string_view> system_names() {
  return {"n150",      "n300",     "t3000", "galaxy",  "p100",   "p150",
          "bh_galaxy", "n300_2x2", "p300",  "p150_x4", "p150_x8"};
}

System find_system(std::string_view name) {
  const auto colon = name.find(':');
  auto system = known_system(normalized(name.substr(0, colon)));
  require(system.has_value(), "TTMEM_DRYRUN_SYSTEM=", name, " is not a known system; use one of ",
          listed(system_names()));
  if (colon == std::string_view::npos) return *std::move(system);

  Board& board = system->board;
  const auto grid = parse_grid(name.substr(colon + 1));
  require(grid.has_value() && grid->x > 0 && grid->y > 0 && grid->x <= board.die_grid.x &&
              grid->y <= board.die_grid.y,
          "TTMEM_DRYRUN_SYSTEM=", name,
          " has no usable compute grid; give columns x rows, at most ", board.die_grid.x, "x",
          board.die_grid.y, " on this chip");
  board.compute_grid = board.compute_grid_eth_dispatch = *grid;
  board.tensix_grid = with_dispatch(board);
  return *std::move(system);
}

}  // namespace tt::tt_metal::dryrun
