// SPDX-License-Identifier: Apache-2.0
#include "read/collector/free_space.hpp"

#include <gtest/gtest.h>

namespace ttmem::collector {
namespace {

using segment::LiveAllocation;

// With these facts, the regions are [1048640, 1065024 - 8192) in DRAM, [1000, 1800) in L1 and
// [1800, 2000) in L1_SMALL.
constexpr BankFacts kBanks = {.l1_bytes_per_core = 2000,
                              .l1_base = 1000,
                              .l1_small_bytes_per_core = 200,
                              .dram_channels = 12,
                              .dram_bytes_per_channel = 1'065'024,
                              .trace_region_bytes = 12};

LiveAllocation buffer(Kind kind, std::uint64_t address, std::uint64_t bytes_per_bank) {
  LiveAllocation allocation;
  allocation.kind = kind;
  allocation.address = address;
  allocation.bytes_per_bank = bytes_per_bank;
  return allocation;
}

Taken taken(const std::vector<LiveAllocation>& buffers, bool all_listed = true) {
  std::vector<const LiveAllocation*> refs;
  refs.reserve(buffers.size());
  for (const LiveAllocation& one : buffers) refs.push_back(&one);
  return taken_by(refs, all_listed);
}

PerKind<model::FreeSpace> free_of(const std::vector<LiveAllocation>& buffers,
                                  const BankFacts& banks = kBanks) {
  return free_space(regions_of("wormhole_b0", banks), taken(buffers));
}

void expect_free(const model::FreeSpace& space, std::uint64_t bytes, std::uint64_t largest) {
  EXPECT_EQ(space.bytes_per_bank, bytes);
  EXPECT_EQ(space.largest_per_bank, largest);
}

void expect_unknown(const model::FreeSpace& space) {
  EXPECT_FALSE(space.bytes_per_bank);
  EXPECT_FALSE(space.largest_per_bank);
}

TEST(FreeSpace, OfAnEmptyBankIsItsRegion) {
  const auto free = free_of({});
  expect_free(free[Kind::dram], 8192, 8192);
  expect_free(free[Kind::l1], 800, 800);
  expect_free(free[Kind::l1_small], 200, 200);
  expect_free(free[Kind::trace], 8192, 8192);
}

TEST(FreeSpace, LiesBetweenBuffersInWholeSteps) {
  // The free ranges are [1000, 1120), [1152, 1184) and [1280, 1800). The buffer at 1120 has 10
  // bytes, but takes a whole step of 32 bytes.
  const auto free =
      free_of({buffer(Kind::l1, 1184, 96), buffer(Kind::l1, 1120, 10), buffer(Kind::l1, 1184, 32)});
  expect_free(free[Kind::l1], 120 + 32 + 520, 520);
}

TEST(FreeSpace, IsZeroWhenAllIsTaken) {
  expect_free(free_of({buffer(Kind::l1_small, 1800, 200)})[Kind::l1_small], 0, 0);
}

TEST(FreeSpace, IsUnknownWhenABufferLiesOutside) {
  expect_unknown(free_of({buffer(Kind::l1, 992, 32)})[Kind::l1]);
  expect_unknown(free_of({buffer(Kind::dram, 0, 32)})[Kind::dram]);
  expect_unknown(free_of({buffer(Kind::trace, 1'048'640, 32)})[Kind::trace]);
  expect_unknown(free_of({buffer(Kind::dram, UINT64_MAX - 1, 32)})[Kind::dram]);
}

TEST(FreeSpace, IsUnknownWithAnIncompletelyDescribedBuffer) {
  LiveAllocation nowhere = buffer(Kind::l1, 1000, 32);
  nowhere.address.reset();
  LiveAllocation sizeless = buffer(Kind::dram, 1'048'640, 32);
  sizeless.bytes_per_bank.reset();
  const auto free = free_of({nowhere, sizeless, buffer(Kind::l1, 1000, 32)});
  expect_unknown(free[Kind::l1]);
  expect_unknown(free[Kind::dram]);
  expect_free(free[Kind::l1_small], 200, 200);
}

TEST(FreeSpace, IsUnknownWhenTheListOrARegionIsUnknown) {
  const auto regions = regions_of("wormhole_b0", kBanks);
  for (const Kind kind : kBankKinds) {
    expect_unknown(free_space(regions, taken({}, false))[kind]);
    expect_unknown(free_space(regions_of("grayskull", kBanks), taken({}))[kind]);
    expect_unknown(free_of({}, {})[kind]);
  }
}

TEST(FreeSpace, ABufferInAnUnreportedRegionMakesTheNextRegionUnknown) {
  BankFacts banks = kBanks;
  banks.trace_region_bytes = 0;
  banks.l1_small_bytes_per_core = 0;
  const auto free = free_of({}, banks);
  expect_free(free[Kind::dram], 16384, 16384);
  expect_free(free[Kind::l1], 1000, 1000);
  expect_unknown(free_of({buffer(Kind::trace, 1'060'000, 32)}, banks)[Kind::dram]);
  expect_unknown(free_of({buffer(Kind::l1_small, 1900, 32)}, banks)[Kind::l1]);
}

TEST(FreeSpace, ImpossibleSizesGiveNoRegions) {
  BankFacts banks = kBanks;
  banks.l1_small_bytes_per_core = 3000;
  banks.trace_region_bytes = UINT64_MAX;
  const auto regions = regions_of("blackhole", banks);
  for (const Kind kind : kBankKinds) EXPECT_FALSE(regions[kind]);
}

}  // namespace
}  // namespace ttmem::collector
