// SPDX-License-Identifier: Apache-2.0
//
// Tests the wrappers of ttmem/instrumented_helpers.hpp on the dry run. The collector reads the
// reports of the wrappers back.
#include <gtest/gtest.h>

#include <tt-metalium/distributed.hpp>
#include <ttmem/instrumented_helpers.hpp>

#include "support/tracked_process.hpp"

namespace {

using namespace tt::tt_metal;
using instrumented::AddKernelWithTracking;
using instrumented::CreateCircularBufferWithTracking;
using instrumented::ReleaseTracking;
using ttmem::tracked_process::device;

const CoreRange kGrid({0, 0}, {7, 6});
constexpr std::uint64_t kCores = 56;

class InstrumentedHelpersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TTMEM_DRYRUN_SYSTEM", "t3000", 1);
    mesh_ = distributed::MeshDevice::create(
        distributed::MeshDeviceConfig(distributed::MeshShape(2, 4)));
    instrumented::TrackOn(mesh_.get());
  }
  void TearDown() override {
    for (std::uint32_t chip = 0; chip < 8; ++chip) ttmem_device_close(chip);
  }
  static CircularBufferConfig config(std::uint32_t bytes, std::uint8_t index) {
    return CircularBufferConfig(bytes, {{index, tt::DataFormat::Float16_b}})
        .set_page_size(index, bytes);
  }

  std::shared_ptr<distributed::MeshDevice> mesh_;
};

TEST_F(InstrumentedHelpersTest, ACbCountsOnEveryCoreOfEveryChipUntilItsProgramIsReleased) {
  Program program;
  CreateCircularBufferWithTracking(program, kGrid, config(4096, 0));
  CreateCircularBufferWithTracking(program, kGrid, config(8192, 1));
  EXPECT_EQ(program.circular_buffers().size(), 2u) << "TT-Metal's call is made";
  for (std::uint32_t chip = 0; chip < 8; ++chip) {
    EXPECT_EQ(device(chip).used(ttmem::Kind::cb), kCores * 12288);
  }
  ReleaseTracking(program);
  for (std::uint32_t chip = 0; chip < 8; ++chip) EXPECT_EQ(device(chip).used(ttmem::Kind::cb), 0u);
}

TEST_F(InstrumentedHelpersTest, CachedProgramsOfOneShapeCountOnce) {
  std::vector<Program> programs(30);
  for (Program& program : programs) {
    CreateCircularBufferWithTracking(program, kGrid, config(4096, 0));
  }
  EXPECT_EQ(device(0).used(ttmem::Kind::cb), kCores * 4096);
  for (const Program& program : programs) ReleaseTracking(program);
  EXPECT_EQ(device(0).used(ttmem::Kind::cb), 0u);
  EXPECT_EQ(device(0).anomalies, ttmem::Anomalies{});
}

TEST_F(InstrumentedHelpersTest, AKernelIsAnEstimateAndNeverMoreThanACoreHasRoomFor) {
  Program one, three;
  AddKernelWithTracking(one, "reader.cpp", kGrid, DataMovementConfig{});
  EXPECT_EQ(device(0).used(ttmem::Kind::kernel), kCores * 50 * 1024);
  EXPECT_EQ(device(0).kernels_estimated_bytes, kCores * 50 * 1024);
  AddKernelWithTracking(three, "reader.cpp", kGrid, DataMovementConfig{});
  AddKernelWithTracking(three, "writer.cpp", kGrid, DataMovementConfig{});
  AddKernelWithTracking(three, "compute.cpp", kGrid, ComputeConfig{});
  EXPECT_EQ(device(0).used(ttmem::Kind::kernel), kCores * 69 * 1024);
  ReleaseTracking(three);
  EXPECT_EQ(device(0).used(ttmem::Kind::kernel), kCores * 50 * 1024);
  ReleaseTracking(one);
  EXPECT_EQ(device(0).used(ttmem::Kind::kernel), 0u);
  EXPECT_EQ(device(0).anomalies, ttmem::Anomalies{});
}

TEST_F(InstrumentedHelpersTest, AViewOfABufferCountsNothing) {
  const auto buffer = distributed::MeshBuffer::create(
      distributed::ReplicatedBufferConfig{.size = kCores * 4096},
      {.page_size = 4096, .buffer_type = BufferType::L1}, mesh_.get());
  Program program;
  CreateCircularBufferWithTracking(program, kGrid, config(1024, 0));
  CreateCircularBufferWithTracking(
      program, kGrid,
      CircularBufferConfig(4096, {{1, tt::DataFormat::Float16_b}}, *buffer->get_reference_buffer())
          .set_page_size(1, 4096));
  EXPECT_EQ(device(0).used(ttmem::Kind::cb), kCores * 1024);
  ReleaseTracking(program);
}

TEST_F(InstrumentedHelpersTest, AnUntrackedProgramIsReleasedSilently) {
  const Program program;
  ReleaseTracking(program);
  EXPECT_TRUE(ttmem::tracked_process::snapshot().allocations.empty());
}

}  // namespace
