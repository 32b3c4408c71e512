// SPDX-License-Identifier: Apache-2.0
#include "read/placement/free_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace ttmem::placement {
namespace {

TEST(FreeList, PlacesTheExampleOfItsHeader) {
  FreeList list(0, 100, 10);
  EXPECT_EQ(list.allocate(25, true), 0u);
  EXPECT_EQ(list.allocate(10, false), 90u);
  EXPECT_EQ(list.allocate(55, true), 30u);
  EXPECT_EQ(list.allocate(10, true), std::nullopt);
}

TEST(FreeList, TakesTheLowestBlockThatFitsEvenWhenALaterBlockFitsBetter) {
  FreeList list(0, 1000, 10);
  const auto large = list.allocate(300, true);
  list.allocate(10, true);
  const auto small = list.allocate(100, true);
  list.allocate(10, true);
  list.deallocate(*large);
  list.deallocate(*small);
  EXPECT_EQ(list.allocate(100, true), 0u);
}

TEST(FreeList, FromTheTopTakesTheHighestBlockThatFits) {
  FreeList list(0, 1000, 10);
  list.allocate(900, true);
  list.deallocate(0);
  list.allocate(500, true);
  list.allocate(100, true);
  list.deallocate(0);
  EXPECT_EQ(list.allocate(400, false), 600u);
  EXPECT_EQ(list.allocate(400, false), 100u);
}

TEST(FreeList, JoinsAFreedBlockWithBothNeighbours) {
  FreeList list(0, 30, 10);
  for (int i = 0; i < 3; ++i) list.allocate(10, true);
  list.deallocate(0);
  list.deallocate(20);
  EXPECT_EQ(list.statistics().largest_free_block_bytes, 10u);
  list.deallocate(10);
  EXPECT_EQ(list.statistics().largest_free_block_bytes, 30u);
}

TEST(FreeList, IgnoresAFreeOfAnUnallocatedAddress) {
  FreeList list(0, 30, 10);
  list.allocate(10, true);
  list.deallocate(10);
  EXPECT_EQ(list.statistics().free_bytes, 20u);
}

TEST(FreeList, OfSizeZeroHasNoRoom) {
  FreeList list(100, 0, 10);
  EXPECT_EQ(list.allocate(1, true), std::nullopt);
  EXPECT_EQ(list.lowest_occupied_address(), std::nullopt);
}

TEST(FreeList, OccupiesAGivenRange) {
  FreeList list(100, 100, 10);
  EXPECT_TRUE(list.occupy(150, 15));
  EXPECT_EQ(list.statistics().allocated_bytes, 20u);  // 15 bytes, rounded up to a multiple of 10
  EXPECT_EQ(list.allocate(30, true), 100u);
  EXPECT_EQ(list.allocate(30, true), 170u);
  EXPECT_EQ(list.lowest_occupied_address(), 100u);
  list.deallocate(150);
  EXPECT_EQ(list.free_blocks(), (std::map<std::uint64_t, std::uint64_t>{{130, 40}}));
}

TEST(FreeList, RefusesToOccupyTakenOrOutsideRanges) {
  FreeList list(100, 100, 10);
  ASSERT_TRUE(list.occupy(150, 10));
  for (const auto& [address, bytes] : {std::pair<std::uint64_t, std::uint64_t>{140, 20},
                                       {150, 10},
                                       {90, 20},
                                       {190, 20},
                                       {200, 10},
                                       {0, 10},
                                       {100, ~0ull},
                                       {~0ull, 10}}) {
    EXPECT_FALSE(list.occupy(address, bytes)) << address;
  }
  EXPECT_EQ(list.free_blocks(), (std::map<std::uint64_t, std::uint64_t>{{100, 50}, {160, 40}}));
}

TEST(FreeList, HasNoRoomForSizesThatOverflow) {
  FreeList list(0, 100, 10);
  EXPECT_EQ(list.allocate(~0ull, true), std::nullopt);
}

// Implements the allocation rule with one entry for each unit. A search tries every start.
class UnitMap {
 public:
  explicit UnitMap(std::size_t units) : used_(units, false) {}

  std::optional<std::size_t> allocate(std::size_t units, bool bottom_up) {
    // Finds the lowest start at which the units fit. If the search is from the top, finds the
    // highest start.
    std::optional<std::size_t> found;
    for (std::size_t start = 0; start + units <= used_.size(); ++start) {
      bool fits = true;
      for (std::size_t i = start; i < start + units; ++i) fits = fits && !used_[i];
      if (!fits) continue;
      found = start;
      if (bottom_up) break;
    }
    if (found) set(*found, units, true);
    return found;
  }
  void set(std::size_t start, std::size_t units, bool used) {
    for (std::size_t i = start; i < start + units; ++i) used_[i] = used;
  }

 private:
  std::vector<bool> used_;
};

TEST(FreeList, AgreesWithAMapOfUnitsOverRandomHistories) {
  constexpr std::uint64_t kBase = 1024;
  constexpr std::uint64_t kUnit = 32;
  std::mt19937 random(42);
  for (int history = 0; history < 50; ++history) {
    FreeList list(kBase, 64 * kUnit, kUnit);
    UnitMap model(64);
    std::map<std::uint64_t, std::size_t> live;
    for (int step = 0; step < 200; ++step) {
      if (random() % 3 == 0 && !live.empty()) {
        const auto victim =
            std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
        list.deallocate(victim->first);
        model.set((victim->first - kBase) / kUnit, victim->second, false);
        live.erase(victim);
        continue;
      }
      const std::size_t units = 1 + random() % 12;
      const bool bottom_up = random() % 2 == 0;
      const auto expected = model.allocate(units, bottom_up);
      const auto address = list.allocate(units * kUnit - random() % kUnit, bottom_up);
      ASSERT_EQ(address.has_value(), expected.has_value());
      if (!address) continue;
      ASSERT_EQ(*address, kBase + *expected * kUnit);
      live[*address] = units;
      ASSERT_EQ(list.lowest_occupied_address(), live.begin()->first);
    }
  }
}

// Implements the allocation rule with a std::map of free blocks. A search tries the blocks one by
// one.
class PlainList {
 public:
  PlainList(std::uint64_t base, std::uint64_t size) { free_[base] = size; }

  std::optional<std::uint64_t> allocate(std::uint64_t bytes, bool bottom_up) {
    auto found = free_.end();
    for (auto block = free_.begin(); block != free_.end(); ++block) {
      if (block->second < bytes) continue;
      found = block;
      if (bottom_up) break;
    }
    if (found == free_.end()) return std::nullopt;
    const auto [begin, size] = *found;
    free_.erase(found);
    if (size > bytes) free_[bottom_up ? begin + bytes : begin] = size - bytes;
    return bottom_up ? begin : begin + size - bytes;
  }
  void free(std::uint64_t address, std::uint64_t bytes) {
    auto next = free_.emplace(address, bytes).first;
    const auto join = [&](auto low, auto high) {
      if (low->first + low->second != high->first) return false;
      low->second += high->second;
      free_.erase(high);
      return true;
    };
    if (std::next(next) != free_.end()) join(next, std::next(next));
    if (next != free_.begin()) join(std::prev(next), next);
  }
  const std::map<std::uint64_t, std::uint64_t>& blocks() const { return free_; }

 private:
  std::map<std::uint64_t, std::uint64_t> free_;
};

TEST(FreeList, AgreesWithAPlainListOverThousandsOfBlocks) {
  constexpr std::uint64_t kUnit = 64;
  std::mt19937 random(7);
  FreeList list(1 << 20, 1 << 22, kUnit);
  PlainList plain(1 << 20, 1 << 22);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> live;
  std::size_t refused = 0;
  for (int step = 0; step < 30'000; ++step) {
    if (!live.empty() && random() % 5 < 2) {
      std::swap(live[random() % live.size()], live.back());
      list.deallocate(live.back().first);
      plain.free(live.back().first, live.back().second);
      live.pop_back();
      continue;
    }
    const std::uint64_t bytes = kUnit * (1 + random() % (random() % 10 == 0 ? 500 : 20));
    const bool bottom_up = random() % 2 == 0;
    const auto address = list.allocate(bytes, bottom_up);
    ASSERT_EQ(address, plain.allocate(bytes, bottom_up)) << step;
    if (address) live.emplace_back(*address, bytes);
    refused += address ? 0 : 1;
    if (step % 1000 != 0) continue;
    ASSERT_EQ(list.free_blocks(), plain.blocks());
    std::uint64_t largest = 0;
    for (const auto& [begin, size] : plain.blocks()) largest = std::max(largest, size);
    ASSERT_EQ(list.statistics().largest_free_block_bytes, largest);
  }
  EXPECT_GT(plain.blocks().size(), 500u);
  EXPECT_GT(refused, 100u);
}

}  // namespace
}  // namespace ttmem::placement
