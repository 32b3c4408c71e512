// SPDX-License-Identifier: Apache-2.0
#include "read/placement/board.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace ttmem::placement {
namespace {

TEST(Board, IsFoundByEachOfItsNamesInAnyCase) {
  for (const std::string_view name : board_names()) {
    const auto board = find_board(name);
    ASSERT_TRUE(board) << name;
    EXPECT_EQ(board->system, name);
  }
  EXPECT_EQ(find_board("T3K")->name, "n300");
  EXPECT_EQ(find_board("WH-Galaxy")->system, "galaxy");
}

TEST(Board, TakesTheCardTypesOfTheDriverAndUsualNames) {
  for (const auto& [name, system] :
       {std::pair("n150", "n150"), std::pair("n150d", "n150"), std::pair("N300s", "n300"),
        std::pair("galaxy-wormhole", "galaxy"), std::pair("p100a", "p100"),
        std::pair("P150b", "p150"), std::pair("p150c", "p150"), std::pair("p300a", "p300"),
        std::pair("galaxy-blackhole", "bh_galaxy"), std::pair("Wormhole n150d", "n150"),
        std::pair("Tenstorrent Blackhole p150a", "p150"), std::pair("tt-p100a", "p100"),
        std::pair("Blackhole Galaxy", "bh_galaxy")}) {
    const auto board = find_board(name);
    ASSERT_TRUE(board) << name;
    EXPECT_EQ(board->system, system) << name;
  }
  EXPECT_EQ(find_board("p150b:13x10")->compute_grid, (Grid{13, 10}));
}

TEST(Board, TakesAGridAppendedToTheName) {
  const auto board = find_board("p150:13x10");
  ASSERT_TRUE(board);
  EXPECT_EQ(board->compute_grid, (Grid{13, 10}));
  EXPECT_EQ(board->tensix_grid, (Grid{14, 10}));
  for (const std::string_view name :
       {"p150:", "p150:13", "p150:15x10", "p150:0x10", "p150:8x8x8"}) {
    const auto none = find_board(name);
    ASSERT_FALSE(none) << name;
    EXPECT_NE(none.error().message.find("at most 14x10"), std::string::npos);
  }
}

TEST(Board, ErrorForAnUnknownBoardListsTheKnownBoards) {
  for (const std::string_view name : {"", "p200", "n150x"}) {
    const auto none = find_board(name);
    ASSERT_FALSE(none) << name;
    EXPECT_NE(none.error().message.find("n150, n300"), std::string::npos);
  }
}

TEST(Board, ChipsAreFoundByArchitecture) {
  EXPECT_EQ(find_chip("blackhole")->l1_bytes_per_core, 1572864u);
  EXPECT_EQ(find_chip("wormhole_b0")->dram_alignment, 32u);
  EXPECT_EQ(find_chip("quasar"), nullptr);
}

}  // namespace
}  // namespace ttmem::placement
