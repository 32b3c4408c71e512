// SPDX-License-Identifier: Apache-2.0
//
// Tests <ttmem/allocation_client.hpp>. The tests call its functions, which call libttmem.so, and
// read the segment with the collector. docs/internals/seeds.md lists the tests for the cases of
// each seed.
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <ttmem/allocation_client.hpp>
#include <variant>
#include <vector>

#include "support/tracked_process.hpp"

namespace {

using tt::tt_metal::AllocationClient;
namespace allocation_tracker = tt::tt_metal::allocation_tracker;
using ttmem::Kind;
using ttmem::tracked_process::allocations;
using ttmem::tracked_process::device;

constexpr std::uint8_t kDram = 0;
constexpr std::uint8_t kL1 = 1;
constexpr std::array<std::uint8_t, 4> kDeviceTypes = {0, 1, 3, 4};
constexpr std::uint64_t kMiB = 1 << 20;

// Closes the devices after each test, because all tests run in one process and would see the
// devices of earlier tests.
class AllocationClientTest : public ::testing::Test {
 protected:
  void TearDown() override {
    for (int chip = 0; chip < 4; ++chip) AllocationClient::report_device_close(chip);
  }
};

TEST_F(AllocationClientTest, CbsAreNotL1BuffersAndHaveAFigureOfTheirOwn) {
  ASSERT_TRUE(AllocationClient::is_enabled());
  AllocationClient::report_allocation(0, 20 * kMiB, kL1, 1000);
  AllocationClient::report_cb_allocation(0, 16384, 105664);
  EXPECT_EQ(device(0).logical(Kind::l1), 20 * kMiB);
  EXPECT_EQ(device(0).used(Kind::cb), 16384u);
  EXPECT_EQ(device(0).l1_used_bytes, 20 * kMiB + 16384) << "Total L1 has the CBs in it";
}

TEST_F(AllocationClientTest, TheOlderFormOfACbFreeHasNoSize) {
  AllocationClient::report_cb_allocation(0, 16384, 105664);
  AllocationClient::report_cb_deallocation(0, 105664);
  EXPECT_EQ(device(0).used(Kind::cb), 0u);
}

TEST_F(AllocationClientTest, KernelsAreLoadedAndUnloaded) {
  AllocationClient::report_kernel_load(0, 40000, 7);
  AllocationClient::report_kernel_load(0, 209715, 8, 2);
  EXPECT_EQ(device(0).used(Kind::kernel), 249715u);
  EXPECT_EQ(device(0).kernels_persistent_bytes, 209715u);
  EXPECT_EQ(device(0).kernels_estimated_bytes, 0u);
  AllocationClient::report_kernel_unload(0, 40000, 7);
  AllocationClient::report_kernel_unload(0, 8);
  EXPECT_EQ(device(0).used(Kind::kernel), 0u);
}

TEST_F(AllocationClientTest, ACbFreeTakesOffWhatWasAllocatedAndNotMinusZero) {
  AllocationClient::report_cb_allocation(0, 262144, 1);
  AllocationClient::report_cb_allocation(0, 131072, 2);
  AllocationClient::report_cb_deallocation(0, 262144, 1);
  EXPECT_EQ(device(0).used(Kind::cb), 131072u);
  AllocationClient::report_cb_deallocation(0, 0, 2);
  EXPECT_EQ(device(0).used(Kind::cb), 0u);
}

TEST_F(AllocationClientTest, EachOfFourDevicesHasItsOwnCbs) {
  for (int chip = 0; chip < 4; ++chip) AllocationClient::report_cb_allocation(chip, 262144, 1);
  for (std::uint32_t chip = 0; chip < 4; ++chip) EXPECT_EQ(device(chip).used(Kind::cb), 262144u);
  for (int chip = 0; chip < 4; ++chip) {
    AllocationClient::report_cb_deallocation(chip, 262144, 1);
  }
  for (std::uint32_t chip = 0; chip < 4; ++chip) EXPECT_EQ(device(chip).used(Kind::cb), 0u);
}

TEST_F(AllocationClientTest, ARepeatedCbCountsOnceAtItsLargestSizeUntilItsLastFree) {
  AllocationClient::report_cb_allocation(0, 1000, 1);
  AllocationClient::report_cb_allocation(0, 3000, 1);
  AllocationClient::report_cb_allocation(0, 2000, 1);
  EXPECT_EQ(device(0).used(Kind::cb), 3000u);
  AllocationClient::report_cb_deallocation(0, 1000, 1);
  AllocationClient::report_cb_deallocation(0, 3000, 1);
  EXPECT_EQ(device(0).used(Kind::cb), 3000u);
  AllocationClient::report_cb_deallocation(0, 2000, 1);
  EXPECT_EQ(device(0).used(Kind::cb), 0u);
  EXPECT_EQ(device(0).anomalies->unknown_frees, 0u);
}

TEST_F(AllocationClientTest, EveryBufferTypeHasItsFigure) {
  for (const std::uint8_t type : kDeviceTypes) {
    AllocationClient::report_allocation(0, 1000u * (type + 1u), type, 100u + type);
  }
  EXPECT_EQ(device(0).logical(Kind::dram), 1000u);
  EXPECT_EQ(device(0).logical(Kind::l1), 2000u);
  EXPECT_EQ(device(0).used(Kind::l1_small), 4000u);
  EXPECT_EQ(device(0).used(Kind::trace), 5000u);
  EXPECT_FALSE(device(0).physical(Kind::l1).has_value()) << "nobody said the banks";
  for (const std::uint8_t type : kDeviceTypes) {
    AllocationClient::report_deallocation(0, 100u + type);
  }
  EXPECT_TRUE(allocations(0).empty());
  EXPECT_EQ(device(0).anomalies->unknown_frees, 0u);
}

TEST_F(AllocationClientTest, ABufferReportedTwiceLivesUntilItsSecondFree) {
  AllocationClient::report_allocation(0, 1000, kDram, 5);
  AllocationClient::report_allocation(0, 1000, kDram, 5);
  AllocationClient::report_deallocation(0, 5);
  EXPECT_EQ(device(0).logical(Kind::dram), 1000u);
  AllocationClient::report_deallocation(0, 5);
  EXPECT_EQ(device(0).logical(Kind::dram), 0u);
}

TEST_F(AllocationClientTest, AFreeOfAnUnknownBufferIsCounted) {
  AllocationClient::report_deallocation(3, 5);
  EXPECT_EQ(device(3).anomalies->unknown_frees, 1u);
}

TEST_F(AllocationClientTest, AClosedDeviceBeginsAnew) {
  AllocationClient::report_allocation(0, 1000, kDram, 5);
  AllocationClient::report_allocation(1, 1000, kDram, 5);
  AllocationClient::report_device_close(0);
  AllocationClient::report_allocation(0, 3000, kDram, 5);
  EXPECT_EQ(device(0).logical(Kind::dram), 3000u);
  EXPECT_EQ(device(1).logical(Kind::dram), 1000u);
}

TEST_F(AllocationClientTest, OneAddressInDramAndL1IsTwoBuffers) {
  AllocationClient::report_allocation(0, 1000, kDram, 1048640);
  AllocationClient::report_allocation(0, 2000, kL1, 1048640);
  EXPECT_EQ(allocations(0).size(), 2u);
  AllocationClient::report_deallocation(0, 1048640);
  AllocationClient::report_deallocation(0, 1048640);
  EXPECT_TRUE(allocations(0).empty());
}

TEST_F(AllocationClientTest, ANegativeDeviceIsIgnored) {
  AllocationClient::report_allocation(-1, 1000, kDram, 5);
  AllocationClient::report_deallocation(-1, 5);
  AllocationClient::report_cb_allocation(-1, 1000, 5);
  AllocationClient::report_cb_deallocation(-1, 1000, 5);
  AllocationClient::report_kernel_load(-1, 1000, 5);
  AllocationClient::report_kernel_unload(-1, 5);
  EXPECT_TRUE(ttmem::tracked_process::snapshot().allocations.empty());
}

TEST_F(AllocationClientTest, ReportsOfSeveralThreadsAreComplete) {
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      for (std::uint64_t n = 0; n < 200; ++n) {
        AllocationClient::report_allocation(0, 100, kDram, 1 + thread * 200 + n);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(device(0).logical(Kind::dram), 80000u);
  for (std::uint64_t n = 0; n < 800; ++n) AllocationClient::report_deallocation(0, 1 + n);
  EXPECT_EQ(device(0).logical(Kind::dram), 0u);
}

// Types that have the same members as the corresponding types of TT-Metal.
struct Coord {
  std::size_t x, y;
};
struct Range {
  Coord start_coord, end_coord;
};
struct RangeSet {
  std::vector<Range> all;
  const std::vector<Range>& ranges() const { return all; }
};

TEST_F(AllocationClientTest, TheModuleCountsACbOnAllItsCores) {
  ASSERT_TRUE(allocation_tracker::is_tracking_enabled());
  const RangeSet cores{{{{0, 0}, {7, 3}}, {{0, 4}, {3, 4}}}};
  allocation_tracker::report_cb_allocation(0, 2048, 0, cores);
  EXPECT_EQ(device(0).used(Kind::cb), 36u * 2048);
  allocation_tracker::report_cb_allocation(0, 2048, 1, Range{{0, 0}, {1, 1}});
  allocation_tracker::report_cb_allocation(0, 2048, 2, Coord{3, 3});
  allocation_tracker::report_cb_allocation(0, 2048, 3, ttmem_core_range{0, 0, 0, 4});
  EXPECT_EQ(device(0).used(Kind::cb), (36u + 4 + 1 + 5) * 2048);
  const std::variant<Coord, Range, RangeSet> spec = cores;
  allocation_tracker::report_cb_allocation(0, 2048, 0, spec);
  EXPECT_EQ(device(0).used(Kind::cb), (36u + 4 + 1 + 5) * 2048) << "the same index and cores";
  allocation_tracker::report_cb_deallocation(0, 0, cores);
  allocation_tracker::report_cb_deallocation(0, 0, cores);
  EXPECT_EQ(device(0).used(Kind::cb), (4u + 1 + 5) * 2048);
}

TEST_F(AllocationClientTest, TheModuleCountsTheBinariesOfAKernel) {
  allocation_tracker::report_kernel_allocation(0, 64 * 9000, 3);
  EXPECT_EQ(device(0).used(Kind::kernel), 64u * 9000);
  EXPECT_EQ(device(0).kernels_estimated_bytes, 0u);
}

}  // namespace
