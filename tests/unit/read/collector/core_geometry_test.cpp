// SPDX-License-Identifier: Apache-2.0
#include "read/collector/core_geometry.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "read/collector/core_partition.hpp"
#include "read/collector/program_figures.hpp"

namespace ttmem::collector {
namespace {

using segment::DeviceImage;
using segment::LiveAllocation;
using segment::LiveCb;
using segment::LiveFootprint;

constexpr L1Limits kWormhole = {1499136, 105664, 0};

// Returns a random number below `bound`.
std::uint32_t draw(std::mt19937& random, std::uint32_t bound) {
  return static_cast<std::uint32_t>(random() % bound);
}

CoreMask cores(std::initializer_list<std::uint32_t> list) {
  CoreMask mask;
  for (const std::uint32_t core : list) mask.set(core);
  return mask;
}

LiveAllocation buffer(Kind kind, std::uint64_t address, std::optional<std::uint64_t> bytes_per_bank,
                      std::optional<CoreMask> on = std::nullopt) {
  LiveAllocation allocation;
  allocation.kind = kind;
  allocation.address = address;
  allocation.bytes_per_bank = bytes_per_bank;
  allocation.cores = on;
  return allocation;
}

LiveAllocation l1(std::uint64_t address, std::optional<std::uint64_t> bytes_per_bank,
                  std::optional<CoreMask> on = std::nullopt) {
  return buffer(Kind::l1, address, bytes_per_bank, on);
}

LiveAllocation on_own_banks(LiveAllocation allocation) {
  allocation.own_banks = true;
  return allocation;
}

std::vector<const LiveAllocation*> refs(const std::vector<LiveAllocation>& allocations) {
  std::vector<const LiveAllocation*> result;
  for (const LiveAllocation& allocation : allocations) result.push_back(&allocation);
  return result;
}

DeviceImage grid(std::uint16_t x, std::uint16_t y) {
  DeviceImage device;
  device.grid_x = x;
  device.grid_y = y;
  device.cores.resize(std::size_t{x} * y);
  return device;
}

TEST(CoreStates, AShardTakesItsRangeOnEveryCore) {
  const std::vector<LiveAllocation> allocations = {
      l1(1400000, 4096), l1(1300000, 2048, cores({1, 2})), buffer(Kind::l1_small, 1499000, 64),
      buffer(Kind::dram, 5, 64)};
  const auto states = core_states(grid(2, 2), refs(allocations), true);
  ASSERT_EQ(states.size(), 4u);
  for (const CoreState& state : states) {
    EXPECT_EQ(state.l1_bytes, 4096u + 2048u);
    EXPECT_EQ(state.lowest_l1, 1300000u);
  }
  EXPECT_EQ(states[0].l1_data_bytes, 4096u);
  EXPECT_EQ(states[1].l1_data_bytes, 4096u + 2048u);
}

TEST(CoreStates, ABufferWithItsOwnBanksTakesOnlyThoseBanks) {
  const std::vector<LiveAllocation> allocations = {l1(1400000, 4096),
                                                   on_own_banks(l1(1300000, 2048, cores({1, 2})))};
  const auto states = core_states(grid(2, 2), refs(allocations), true);
  EXPECT_EQ(states[0].l1_bytes, 4096u);
  EXPECT_EQ(states[0].lowest_l1, 1400000u);
  EXPECT_EQ(states[1].l1_bytes, 4096u + 2048u);
  EXPECT_EQ(states[1].l1_data_bytes, 4096u + 2048u);
  EXPECT_EQ(states[1].lowest_l1, 1300000u);
}

TEST(CoreStates, ABufferOfUnknownSizeHidesTheBytesOfItsCoresButNotItsAddress) {
  const std::vector<LiveAllocation> allocations = {l1(1400000, std::nullopt, cores({3}))};
  const auto states = core_states(grid(2, 2), refs(allocations), true);
  EXPECT_FALSE(states[0].l1_bytes.has_value());
  EXPECT_EQ(states[0].l1_data_bytes, 0u);
  EXPECT_FALSE(states[3].l1_data_bytes.has_value());
  EXPECT_EQ(headroom(states[0], kWormhole), 1400000 - 105664);
}

// Tests the example in the comment of lockstep_bytes().
TEST(Lockstep, CountsBytesTakenOnCoresThatHoldNoData) {
  LiveAllocation shard = l1(679936, 819200, cores({0}));
  shard.banks = 64;
  EXPECT_EQ(lockstep_bytes(refs({shard, l1(600000, 64)}), true)[Kind::l1], 51609600u);
  EXPECT_EQ(lockstep_bytes(refs({shard}), true)[Kind::l1_small], 0u);
  EXPECT_EQ(lockstep_bytes(refs({on_own_banks(shard)}), true)[Kind::l1], 0u);
}

TEST(Lockstep, IsUnknownWithAnUnknownSizeOrAnIncompleteList) {
  LiveAllocation shard = l1(679936, 819200, cores({0}));
  EXPECT_FALSE(lockstep_bytes(refs({shard}), true)[Kind::l1].has_value()) << "banks unknown";
  shard.banks = 64;
  EXPECT_FALSE(lockstep_bytes(refs({shard}), false)[Kind::l1].has_value());
  shard.bytes_per_bank.reset();
  EXPECT_FALSE(lockstep_bytes(refs({shard}), true)[Kind::l1].has_value());
}

TEST(CoreStates, WithUnlistedAllocationsCoresAreUnknown) {
  const auto states = core_states(grid(2, 2), {}, false);
  EXPECT_FALSE(states[0].l1_bytes.has_value());
  EXPECT_FALSE(headroom(states[0], kWormhole).has_value());
}

TEST(Headroom, ReachesFromTheEndOfTheCbsToTheLowestBuffer) {
  CoreState core;
  core.lowest_l1 = 974336;
  core.cb_end = 134336;
  EXPECT_EQ(headroom(core, kWormhole), 840000);
}

TEST(Headroom, IsNegativeWhenTheyClash) {
  CoreState core;  // with the figures of an error message of the runtime
  core.lowest_l1 = 974336;
  core.cb_end = 1089536;
  EXPECT_EQ(headroom(core, kWormhole), -115200);
}

TEST(Headroom, OfAnEmptyCoreReachesFromTheBaseToL1Small) {
  EXPECT_EQ(headroom({}, kWormhole), 1499136 - 105664);
  EXPECT_EQ(headroom({}, {1499136, 105664, 32768}), 1499136 - 32768 - 105664);
}

TEST(Headroom, IsUnknownWithoutTheLimits) {
  EXPECT_FALSE(headroom({}, {0, 105664, 0}).has_value());
  EXPECT_FALSE(headroom({}, {1499136, 0, 0}).has_value());
}

TEST(MergeCore, AddsBytesAndKeepsTheSmallestHeadroom) {
  CoreState a{.cb_bytes = 10,
              .cb_resident_bytes = 1,
              .cb_end = 200,
              .l1_bytes = 5,
              .l1_data_bytes = 4,
              .lowest_l1 = 900,
              .lowest_known = true};
  const CoreState b{.cb_bytes = 20,
                    .cb_resident_bytes = 2,
                    .cb_end = 100,
                    .l1_bytes = 7,
                    .l1_data_bytes = 3,
                    .lowest_l1 = 800,
                    .lowest_known = true};
  merge_core(a, b);
  EXPECT_EQ(a, (CoreState{.cb_bytes = 30,
                          .cb_resident_bytes = 3,
                          .cb_end = 200,
                          .l1_bytes = 12,
                          .l1_data_bytes = 7,
                          .lowest_l1 = 800,
                          .lowest_known = true}));
}

TEST(Overlaps, CountsBuffersThatBeginAtOrInsideAnother) {
  const std::vector<LiveAllocation> allocations = {
      buffer(Kind::dram, 0, 100), buffer(Kind::dram, 50, 10), buffer(Kind::dram, 70, 10),
      buffer(Kind::dram, 100, 10), buffer(Kind::dram, 100, 10)};
  EXPECT_EQ(count_overlaps(refs(allocations)), 3u) << "at 50, at 70, and the second at 100";
}

TEST(Overlaps, ComparesWithinOneTypeOnly) {
  const std::vector<LiveAllocation> allocations = {
      buffer(Kind::dram, 0, 100),     buffer(Kind::trace, 0, 100),  buffer(Kind::l1, 0, 100),
      buffer(Kind::l1_small, 0, 100), buffer(Kind::kernel, 0, 100), buffer(Kind::kernel, 0, 100)};
  EXPECT_EQ(count_overlaps(refs(allocations)), 0u);
}

TEST(Overlaps, NeedACommonBank) {
  const auto own = [](std::uint64_t address, std::initializer_list<std::uint32_t> list) {
    return on_own_banks(l1(address, 100, cores(list)));
  };
  EXPECT_EQ(count_overlaps(refs({own(0, {0, 1}), own(50, {2, 3})})), 0u);
  EXPECT_EQ(count_overlaps(refs({own(0, {0, 1}), own(50, {1, 2})})), 1u);
  EXPECT_EQ(count_overlaps(refs({own(0, {5}), l1(50, 100)})), 1u);
}

TEST(Overlaps, ShardsOnDifferentCoresOverlapInLockstep) {
  EXPECT_EQ(count_overlaps(refs({l1(0, 100, cores({0, 1})), l1(50, 100, cores({2, 3}))})), 1u);
}

TEST(Overlaps, ABufferOfUnknownSizeCountsAsOneByte) {
  EXPECT_EQ(count_overlaps(refs({l1(0, std::nullopt), l1(1, 10)})), 0u);
  EXPECT_EQ(count_overlaps(refs({l1(0, std::nullopt), l1(0, 10)})), 1u);
}

TEST(PartitionCores, EveryMaskIsAUnionOfClasses) {
  std::mt19937 random(7);
  std::vector<CoreMask> masks(20);
  for (CoreMask& mask : masks) {
    for (int i = 0; i < 40; ++i) mask.set(draw(random, kMaxCores));
  }
  CoreMask covered;
  for (const CoreMask& cls : partition_cores(masks)) {
    EXPECT_TRUE((covered & cls).empty()) << "classes are disjoint";
    covered |= cls;
    for (const CoreMask& mask : masks) {
      EXPECT_TRUE((cls & mask).empty() || (cls - mask).empty());
    }
  }
  for (const CoreMask& mask : masks) EXPECT_TRUE((mask - covered).empty());
}

LiveCb cb(std::uint32_t address, std::uint32_t bytes, CoreMask on, bool global = false) {
  return {.address = address, .bytes = bytes, .global = global, .cores = on};
}

FootprintFigures figures_of(const LiveFootprint& footprint) {
  WorkBudget budget(1 << 20);
  return footprint_figures(footprint, budget).value();
}

std::vector<std::uint64_t> exclusive_of(const std::vector<FootprintUse>& uses) {
  WorkBudget budget(1 << 20);
  return exclusive_bytes(uses, budget).value();
}

TEST(FootprintFigures, CountTheUnionOnEachCoreAndNoBytesOfGlobalCbs) {
  const FootprintFigures figures = figures_of(
      {cb(0, 100, cores({0, 1})), cb(50, 100, cores({1, 2})), cb(0, 999, cores({3}), true)});
  EXPECT_EQ(figures.cores, 4u) << "as the ledger has it: also a core with a global CB alone";
  EXPECT_EQ(figures.bytes_per_core, 150u);
  EXPECT_EQ(figures.physical_bytes, 100u + 150u + 100u);
  EXPECT_EQ(figures.logical_bytes, 400u);
}

TEST(ExclusiveBytes, AreTheBytesThatNoOtherProgramCovers) {
  const LiveFootprint a = {cb(0, 100, CoreMask::first(64))};
  const LiveFootprint b = {cb(60, 80, CoreMask::first(64))};
  EXPECT_EQ(exclusive_of({{&a, 1}, {&b, 1}}), (std::vector<std::uint64_t>{60 * 64, 40 * 64}));
  EXPECT_EQ(exclusive_of({{&a, 2}, {&b, 1}}), (std::vector<std::uint64_t>{0, 40 * 64}))
      << "two programs share a footprint: the end of one frees nothing";
}

TEST(ExclusiveBytes, AreUnknownBeyondTheBudget) {
  const LiveFootprint a = {cb(0, 100, cores({0})), cb(0, 100, cores({1}))};
  WorkBudget small(3);
  EXPECT_FALSE(exclusive_bytes(std::vector<FootprintUse>{{&a, 1}}, small).has_value());
  WorkBudget enough(4);
  EXPECT_TRUE(exclusive_bytes(std::vector<FootprintUse>{{&a, 1}}, enough).has_value());
}

// A model that counts byte by byte, exactly as the definitions say.
struct Model {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::size_t>> programs_at;
};

TEST(ExclusiveBytes, AgreeWithAModelThatCountsEveryByte) {
  std::mt19937 random(11);
  for (int round = 0; round < 50; ++round) {
    std::vector<LiveFootprint> footprints(1 + draw(random, 5));
    std::vector<FootprintUse> uses;
    Model model;
    for (std::size_t f = 0; f < footprints.size(); ++f) {
      uses.push_back({&footprints[f], 1 + draw(random, 2)});
      for (std::uint32_t i = 0; i < 1 + draw(random, 4); ++i) {
        CoreMask on;
        for (int k = 0; k < 3; ++k) on.set(draw(random, 6));
        footprints[f].push_back(cb(draw(random, 40), draw(random, 20), on, draw(random, 8) == 0));
        const LiveCb& made = footprints[f].back();
        if (made.global) continue;
        made.cores.for_each([&](std::uint32_t core) {
          for (std::uint32_t b = 0; b < made.bytes; ++b) {
            model.programs_at[{core, made.address + b}].insert(f);
          }
        });
      }
    }
    std::vector<std::uint64_t> expected(footprints.size());
    std::vector<std::uint64_t> physical(footprints.size());
    for (const auto& [place, covering] : model.programs_at) {
      for (const std::size_t f : covering) ++physical[f];
      const std::size_t only = *covering.begin();
      if (covering.size() == 1 && uses[only].programs == 1) ++expected[only];
    }
    EXPECT_EQ(exclusive_of(uses), expected);
    for (std::size_t f = 0; f < footprints.size(); ++f) {
      EXPECT_EQ(figures_of(footprints[f]).physical_bytes, physical[f]);
    }
  }
}

}  // namespace
}  // namespace ttmem::collector
