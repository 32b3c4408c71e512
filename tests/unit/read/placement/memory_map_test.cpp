// SPDX-License-Identifier: Apache-2.0
#include "read/placement/memory_map.hpp"

#include <gtest/gtest.h>

#include "read/placement/bytes_per_bank.hpp"

namespace ttmem::placement {
namespace {

TEST(MemoryMap, DividesTheMemoryOfABoard) {
  const Board board = *find_board("n150");
  const auto map = MemoryMap::make(board, {.l1_small_size = 32768, .trace_region_size = 100'000});
  ASSERT_TRUE(map);
  EXPECT_EQ(map->region(Kind::l1), (MemoryRange{105664, 1499136 - 32768}));
  EXPECT_EQ(map->region(Kind::l1_small), (MemoryRange{1499136 - 32768, 1499136}));
  // The trace region takes 8,334 bytes of each channel. This size is rounded up to whole pages,
  // which is 16,384 bytes.
  EXPECT_EQ(map->region(Kind::dram), (MemoryRange{1048640, (1u << 30) - 16384}));
  EXPECT_EQ(map->region(Kind::trace), (MemoryRange{(1u << 30) - 16384, 1u << 30}));
  EXPECT_EQ(map->page_alignment(Kind::l1_small), 16u);
  EXPECT_EQ(map->page_alignment(Kind::trace), 32u);
  EXPECT_EQ(map->step(), 32u);
}

TEST(MemoryMap, HasOnlyRequestedRegions) {
  const auto map = MemoryMap::make(*find_board("p100"), {});
  ASSERT_TRUE(map);
  EXPECT_EQ(map->region(Kind::l1_small).bytes(), 0u);
  EXPECT_EQ(map->region(Kind::trace).bytes(), 0u);
  EXPECT_EQ(map->region(Kind::cb).bytes(), 0u);
}

TEST(MemoryMap, RefusesSizesThatTheBoardDoesNotHave) {
  const Board board = *find_board("n150");
  EXPECT_FALSE(MemoryMap::make(board, {.l1_small_size = 1'500'000}));
  EXPECT_FALSE(MemoryMap::make(board, {.trace_region_size = 13ull << 30}));
  EXPECT_FALSE(MemoryMap::make(board, {.worker_l1_size = 1'600'000}));
  // The sizes are so large that rounding them up overflows to 0.
  constexpr std::uint64_t most = ~std::uint64_t{0};
  EXPECT_FALSE(MemoryMap::make(board, {.l1_small_size = most}));
  EXPECT_FALSE(MemoryMap::make(board, {.trace_region_size = most}));
}

TEST(BytesPerBank, CountTheFullestBank) {
  EXPECT_EQ(bytes_per_bank(1000, 100, 4, 32), 384u);
  EXPECT_EQ(bytes_per_bank(800, 100, 4, 10), 200u);
  EXPECT_EQ(bytes_per_bank(1000, 0, 4, 32), 0u);
  EXPECT_EQ(bytes_per_bank(1000, 100, 0, 32), 0u);
}

}  // namespace
}  // namespace ttmem::placement
