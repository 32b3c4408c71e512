// SPDX-License-Identifier: Apache-2.0
#include "system.hpp"

#include <numeric>
#include <utility>

#include "error.hpp"

namespace tt::tt_metal::dryrun {
namespace {

std::vector<ChipId> numbered(int count) {
  std::vector<ChipId> chips(static_cast<std::size_t>(count));
  std::iota(chips.begin(), chips.end(), 0);
  return chips;
}

// Returns the chips in mesh order: four trays with eight chips each. The upper four rows go down
// through the chips with even numbers. The lower four rows come back through the chips with odd
// numbers.
std::vector<ChipId> wormhole_galaxy_chips() {
  return {0,  16, 18, 2,  4, 20, 22, 6,  8, 24, 26, 10, 12, 28, 30, 14,
          13, 29, 31, 15, 9, 25, 27, 11, 5, 21, 23, 7,  1,  17, 19, 3};
}

std::vector<ChipId> blackhole_galaxy_chips() {
  return {0,  4,  12, 8,  1,  5,  13, 9,  2,  6,  14, 10, 3,  7,  15, 11,
          27, 31, 23, 19, 26, 30, 22, 18, 25, 29, 21, 17, 24, 28, 20, 16};
}

// Returns the system of a board. Its mesh shape and its order of chips are the same as in
// TT-Metal's mock machine with this number of chips.
System with_chips(Board board) {
  using distributed::MeshShape;
  const std::string name = board.system;
  const auto make = [&](MeshShape shape, std::vector<ChipId> chips,
                        std::vector<ChipId> remote = {}) {
    return System{std::move(board), std::move(shape), std::move(chips), std::move(remote)};
  };
  if (name == "n300") return make(MeshShape(2, 1), numbered(2), {1});
  if (name == "n300_2x2") return make(MeshShape(2, 2), {0, 1, 3, 2}, {1, 3});
  // Each board has two chips. Chips 0 to 3 have a PCIe link, and chips 4 to 7 are the remote chips
  // of the same boards.
  if (name == "t3000") return make(MeshShape(2, 4), {4, 0, 2, 6, 5, 1, 3, 7}, {4, 5, 6, 7});
  if (name == "galaxy") return make(MeshShape(8, 4), wormhole_galaxy_chips());
  if (name == "p300") return make(MeshShape(2, 1), numbered(2));
  if (name == "p150_x4") return make(MeshShape(2, 2), {2, 1, 0, 3});
  if (name == "p150_x8") return make(MeshShape(2, 4), {0, 2, 3, 1, 4, 6, 7, 5});
  if (name == "bh_galaxy") return make(MeshShape(8, 4), blackhole_galaxy_chips());
  return make(MeshShape(1, 1), numbered(1));
}

}  // namespace

std::vector<std::string_view> system_names() { return ttmem::placement::board_names(); }

System find_system(std::string_view name) {
  auto board = ttmem::placement::find_board(name.empty() ? "n150" : name);
  if (!board) fail("TTMEM_DRYRUN_SYSTEM=", board.error().message);
  return with_chips(*std::move(board));
}

}  // namespace tt::tt_metal::dryrun
