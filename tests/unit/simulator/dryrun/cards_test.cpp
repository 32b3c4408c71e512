// SPDX-License-Identifier: Apache-2.0
//
// Compares the figures that follow from the type of a card alone with the figures of the dry run.
// The figures of the dry run were compared with TT-Metal.
#include "read/driver/cards.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "system.hpp"

namespace ttmem::driver {
namespace {

TEST(Cards, EqualTheBoardsOfTheDryRun) {
  for (const auto& [card, system] :
       {std::pair("n150", "n150"), std::pair("n300", "n300"),
        std::pair("galaxy-wormhole", "galaxy"), std::pair("p100", "p100"),
        std::pair("p100a", "p100"), std::pair("p150a", "p150"), std::pair("p150b", "p150"),
        std::pair("p150c", "p150"), std::pair("p300a", "p300"), std::pair("p300b", "p300"),
        std::pair("p300c", "p300"), std::pair("galaxy-blackhole", "bh_galaxy")}) {
    SCOPED_TRACE(card);
    const auto board = tt::tt_metal::dryrun::find_system(system).board;
    const Card* const known = find_card(card);
    ASSERT_NE(known, nullptr);
    EXPECT_EQ(known->arch, name_of(board.chip.arch));
    EXPECT_EQ(known->dram_channels, board.dram_channels);
    EXPECT_EQ(known->dram_bytes_per_channel, board.chip.dram_bytes_per_channel);
    EXPECT_EQ(known->l1_bytes_per_core, board.chip.l1_bytes_per_core);
    if (known->grid_x == 0) continue;
    // The grid follows from the type of the card only if every way to open the card gives the same
    // grid.
    EXPECT_EQ(board.compute_grid, board.compute_grid_eth_dispatch);
    EXPECT_EQ(known->grid_x, board.compute_grid.x);
    EXPECT_EQ(known->grid_y, board.compute_grid.y);
  }
}

TEST(Cards, FiguresOfAnArchitectureHoldForEachOfItsCards) {
  EXPECT_EQ(find_chip("wormhole_b0")->dram_channels, find_card("n300")->dram_channels);
  // The architecture alone does not give the number of channels, because a p100 has fewer than a
  // p150.
  EXPECT_EQ(find_chip("blackhole")->dram_channels, 0U);
  EXPECT_EQ(find_chip("blackhole")->l1_bytes_per_core, find_card("p100")->l1_bytes_per_core);
  EXPECT_EQ(find_chip("quasar"), nullptr);
  EXPECT_EQ(find_card("unknown"), nullptr);
}

}  // namespace
}  // namespace ttmem::driver
