// SPDX-License-Identifier: Apache-2.0
//
// Tests the placement of buffers and circular buffers in cases that the captures lack.
#include <gtest/gtest.h>

#include <tt-metalium/allocator.hpp>
#include <tt-metalium/tt_metal.hpp>

#include "fixtures.hpp"

namespace dryrun_test {
namespace {

class Placement : public ::testing::Test {
 protected:
  void open(const std::string& system, std::size_t l1_small = 0, std::size_t trace = 0) {
    use_system(system);
    device_ = CreateDevice(0, 1, l1_small, trace);
  }
  void TearDown() override {
    if (device_ != nullptr) CloseDevice(device_);
  }
  std::shared_ptr<Buffer> interleaved(BufferType type, DeviceAddr size, DeviceAddr page_size) {
    return CreateBuffer(InterleavedBufferConfig{device_, size, page_size, type});
  }

  IDevice* device_ = nullptr;
};

TEST_F(Placement, AOnePageL1BufferOn64CoresIs2KiBLogicalAnd128KiBPhysical) {
  open("n150");
  const auto buffer = interleaved(BufferType::L1, 2048, 2048);
  EXPECT_EQ(buffer->size(), 2048u);
  const auto banks = device_->allocator()->get_num_banks(BufferType::L1);
  EXPECT_EQ(buffer->aligned_size_per_bank() * banks, 128u * 1024);
  EXPECT_EQ(device_->allocator()->get_statistics(BufferType::L1).total_allocated_bytes, 2048u);
}

TEST_F(Placement, L1GoesDownFromL1SmallAndDramUpFromItsBase) {
  open("n150", 32768);
  EXPECT_EQ(interleaved(BufferType::L1, 2048, 2048)->address(), 1499136u - 32768 - 2048);
  EXPECT_EQ(interleaved(BufferType::DRAM, 2048, 2048)->address(), 1048640u);
}

TEST_F(Placement, SmallL1PagesAreAlignedTo16ButTakeTheStepOfTheDramAlignment) {
  open("p150");
  const auto first = interleaved(BufferType::L1, 16, 16);
  const auto second = interleaved(BufferType::L1, 16, 16);
  EXPECT_EQ(first->aligned_size_per_bank(), 16u);
  EXPECT_EQ(first->address() - second->address(), 64u);
}

TEST_F(Placement, AShardedBufferStillReservesItsRangeInEveryBank) {
  open("n150");
  const auto on_16 =
      Buffer::create(device_, 131072, 2048, BufferType::L1, height_sharded(grid(4, 4), 4, 2048));
  EXPECT_EQ(on_16->num_cores(), 16u);
  EXPECT_EQ(on_16->aligned_size_per_bank(), 8192u);
  const auto elsewhere = Buffer::create(device_, 2048, 2048, BufferType::L1,
                                        height_sharded(CoreRange({7, 7}, {7, 7}), 1, 2048));
  EXPECT_EQ(elsewhere->address(), on_16->address() - 2048);
}

TEST_F(Placement, DramShardsLieOnChannels) {
  open("n150");
  const auto buffer = Buffer::create(device_, 12 * 4096, 2048, BufferType::DRAM,
                                     height_sharded(CoreRange({0, 0}, {11, 0}), 2, 2048));
  EXPECT_EQ(buffer->aligned_size_per_bank(), 4096u);
  EXPECT_EQ(buffer->address(), 1048640u);
}

TEST_F(Placement, ADistributionPutsSeveralShardsOnACore) {
  open("n150");
  const BufferDistributionSpec spec(Shape{10, 4}, Shape{2, 4}, grid(2, 1),
                                    ShardOrientation::ROW_MAJOR);
  const auto buffer = Buffer::create(device_, 40 * 1024, 1024, BufferType::L1, spec);
  EXPECT_EQ(spec.num_shards(), 5u);
  EXPECT_EQ(buffer->num_cores(), 2u);
  EXPECT_EQ(buffer->aligned_size_per_bank(), 3u * 8 * 1024);
}

TEST_F(Placement, AFreedRangeIsUsedAgain) {
  open("n150");
  auto first = interleaved(BufferType::DRAM, 12 * 4096, 4096);
  const auto second = interleaved(BufferType::DRAM, 12 * 4096, 4096);
  const auto address = first->address();
  first.reset();
  EXPECT_EQ(interleaved(BufferType::DRAM, 4096, 4096)->address(), address);
}

TEST_F(Placement, TheTraceRegionIsTheTopOfDramInWholePagesPerChannel) {
  open("n150", 0, 4194304);
  EXPECT_EQ(device_->allocator()->get_bank_size(BufferType::TRACE), 352256u);
  EXPECT_EQ(interleaved(BufferType::TRACE, 65536, 2048)->address(), 1073741824u - 352256);
}

TEST_F(Placement, ASmallerWorkerL1MovesTheBaseUp) {
  use_system("n150");
  device_ = CreateDevice(0, 1, 0, 0, {}, {}, 1000000);
  EXPECT_EQ(device_->allocator()->get_base_allocator_addr(HalMemType::L1), 499136u);
}

TEST_F(Placement, CircularBuffersOnDisjointCoresShareAddresses) {
  open("n150");
  Listening listening;
  Program program;
  add_cb(program, CoreRange({0, 0}, {3, 3}), 4096, 0);
  add_cb(program, CoreRange({4, 4}, {7, 7}), 4096, 0);
  add_cb(program, CoreRange({3, 3}, {4, 4}), 2048, 1);
  detail::CompileProgram(device_, program);
  const auto cbs = listening->take_cbs();
  ASSERT_EQ(cbs.size(), 3u);
  EXPECT_EQ(cbs[0].address, 105664u);
  EXPECT_EQ(cbs[1].address, 105664u);
  EXPECT_EQ(cbs[2].address, 105664u + 4096);
  EXPECT_EQ(cb_bytes(device_), 32u * 4096 + 4 * 2048);
}

// The dry run repeats a fault of TT-Metal, because it must show what happens on the device. On core
// (4, 4) the address range of the third circular buffer lies inside that of the second.
TEST_F(Placement, ARangeRaisedByOneNeighbourIsNotRaisedAgainByAnother) {
  open("n150");
  Listening listening;
  Program program;
  add_cb(program, CoreRange({0, 0}, {3, 3}), 4096, 0);
  add_cb(program, CoreRange({4, 4}, {7, 7}), 8192, 0);
  add_cb(program, CoreRange({3, 3}, {4, 4}), 2048, 1);
  detail::CompileProgram(device_, program);
  const auto cbs = listening->take_cbs();
  ASSERT_EQ(cbs.size(), 3u);
  EXPECT_EQ(cbs[2].address, 105664u + 4096);
  EXPECT_EQ(cb_bytes(device_), 16u * 4096 + 16 * 8192 + 4 * 2048 - 2048);
}

TEST_F(Placement, CircularBufferAddressesHaveTheDramAlignment) {
  open("p150");
  Listening listening;
  Program program;
  add_cb(program, grid(1, 1), 100, 0);
  add_cb(program, grid(1, 1), 64, 1);
  detail::CompileProgram(device_, program);
  const auto cbs = listening->take_cbs();
  EXPECT_EQ(cbs.at(0).address, 111616u);
  EXPECT_EQ(cbs.at(1).address, 111616u + 128);
}

struct SystemFigures {
  const char* name;
  std::size_t devices;
  tt::ARCH arch;
  CoreCoord grid;
  int dram_channels;
};

TEST(Systems, HaveTheDocumentedFigures) {
  const auto wormhole = tt::ARCH::WORMHOLE_B0;
  const auto blackhole = tt::ARCH::BLACKHOLE;
  for (const SystemFigures& expected : {SystemFigures{"n150", 1, wormhole, {8, 8}, 12},
                                        SystemFigures{"n300", 2, wormhole, {8, 7}, 12},
                                        SystemFigures{"T3000", 8, wormhole, {8, 7}, 12},
                                        SystemFigures{"galaxy", 32, wormhole, {8, 9}, 12},
                                        SystemFigures{"p100", 1, blackhole, {11, 10}, 7},
                                        SystemFigures{"p150", 1, blackhole, {11, 10}, 8},
                                        SystemFigures{"p150:13x10", 1, blackhole, {13, 10}, 8},
                                        SystemFigures{"bh_galaxy", 32, blackhole, {12, 10}, 8},
                                        SystemFigures{"n300_2x2", 4, wormhole, {8, 7}, 12},
                                        SystemFigures{"p300", 2, blackhole, {11, 10}, 8},
                                        SystemFigures{"p150_x4", 4, blackhole, {11, 10}, 8},
                                        SystemFigures{"p150_x8", 8, blackhole, {12, 10}, 8}}) {
    use_system(expected.name);
    EXPECT_EQ(GetNumAvailableDevices(), expected.devices) << expected.name;
    IDevice* device = CreateDevice(0);
    EXPECT_EQ(device->arch(), expected.arch) << expected.name;
    EXPECT_EQ(device->compute_with_storage_grid_size(), expected.grid) << expected.name;
    EXPECT_EQ(device->num_dram_channels(), expected.dram_channels) << expected.name;
    EXPECT_TRUE(CloseDevice(device));
  }
}

TEST(Systems, HaveChipsWithoutAPciLink) {
  for (const auto& [name, pcie] :
       {std::pair("n150", 1u), std::pair("n300", 1u), std::pair("n300_2x2", 2u),
        std::pair("t3000", 4u), std::pair("galaxy", 32u), std::pair("p300", 2u)}) {
    use_system(name);
    EXPECT_EQ(GetNumPCIeDevices(), pcie) << name;
    const auto mesh = MeshDevice::create(MeshDeviceConfig(std::nullopt));
    std::size_t capable = 0;
    for (const IDevice* chip : mesh->get_devices()) capable += chip->is_mmio_capable() ? 1 : 0;
    EXPECT_EQ(capable, pcie) << name;
  }
}

TEST(Systems, EthernetDispatchFreesARowOfCoresOfAnN300AndAGalaxy) {
  for (const auto& [name, rows] : {std::pair("n300", 8u), std::pair("galaxy", 10u)}) {
    use_system(name);
    IDevice* device = CreateDevice(0, 1, 0, 0, DispatchCoreConfig(DispatchCoreType::ETH));
    EXPECT_EQ(device->compute_with_storage_grid_size(), CoreCoord(8, rows)) << name;
    CloseDevice(device);
  }
}

TEST(Systems, AnUnknownNameIsAnErrorThatListsTheKnownOnes) {
  use_system("n9000");
  try {
    CreateDevice(0);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("n150, n300, t3000"), std::string::npos);
  }
  use_system("n150");
}

}  // namespace
}  // namespace dryrun_test
