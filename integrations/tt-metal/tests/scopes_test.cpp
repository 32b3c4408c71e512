// SPDX-License-Identifier: Apache-2.0
//
// What host code says itself, because no hook does.
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/host_api.hpp>
#include <utility>

#include "ttmem_tt_metal.hpp"
#include "unit/tracked_process.hpp"

namespace {

using namespace tt::tt_metal;
using ttmem::tracked_process::allocations;
using ttmem::tracked_process::device;
using ttmem::tt_metal::Label;
using ttmem::tt_metal::ProgramScope;

class ScopesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TTMEM_DRYRUN_SYSTEM", "n150", 1);
    mesh_ = distributed::MeshDevice::create_unit_mesh(0);
    ttmem::tt_metal::attach();
  }
  void TearDown() override {
    mesh_.reset();
    ttmem::tt_metal::device_closed(0);
  }
  std::shared_ptr<Buffer> buffer() {
    return Buffer::create(mesh_.get(), 2048, 2048, BufferType::DRAM);
  }

  std::shared_ptr<distributed::MeshDevice> mesh_;
};

TEST_F(ScopesTest, AnOpenedDeviceIsShownBeforeItsFirstBufferWithWhatWasSaidOfIt) {
  ttmem::tt_metal::device_opened(*mesh_->get_device(0),
                                 {.uid = 0x1f00a, .board = "n150", .dispatch_kernels = {3000, 70}});
  const auto found = device(0);
  EXPECT_EQ(found.uid, 0x1f00au);
  EXPECT_EQ(found.board, "n150");
  EXPECT_EQ(found.arch, "wormhole_b0");
  EXPECT_EQ(found.l1_capacity_bytes, 64u * 1499136);
  EXPECT_EQ(found.kernels_bytes, 3070u);
  EXPECT_EQ(found.kernels_persistent_bytes, 3070u);
  EXPECT_EQ(found.kernels_estimated_bytes, 0u);
  EXPECT_EQ(allocations(0).size(), 2u);
}

TEST_F(ScopesTest, ABufferHasTheInnermostLabelOfItsThreadAndNoneOutsideOfAll) {
  const auto nameless = buffer();
  const Label outer("layers.0");
  const auto before = buffer();
  const auto inner = [&] {
    const Label label("layers.0.wq");
    return buffer();
  }();
  EXPECT_THROW(
      {
        const Label label("too large");
        Buffer::create(mesh_.get(), 1ull << 40, 2048, BufferType::DRAM);
      },
      std::runtime_error);
  const auto after = buffer();
  const auto held = allocations(0);
  ASSERT_EQ(held.size(), 4u);
  std::map<std::uint64_t, std::string> labels;
  for (const auto& each : held) labels[each.address.value_or(0)] = each.label;
  EXPECT_EQ(labels[nameless->address()], "");
  EXPECT_EQ(labels[before->address()], "layers.0");
  EXPECT_EQ(labels[inner->address()], "layers.0.wq");
  EXPECT_EQ(labels[after->address()], "layers.0");
}

TEST_F(ScopesTest, KernelBytesThatTheCallerKnowsAreTakenAndAreNoEstimate) {
  const CoreRange cores({0, 0}, {7, 7});
  Program program;
  CreateCircularBuffer(
      program, cores,
      CircularBufferConfig(4096, {{0, tt::DataFormat::Float16_b}}).set_page_size(0, 2048));
  CreateKernel(program, "kernels/reader.cpp", cores, DataMovementConfig{});
  distributed::MeshWorkload work;
  work.add_program(distributed::MeshCoordinateRange(mesh_->shape()), std::move(program));
  {
    const ProgramScope scope(work.get_programs().begin()->second, mesh_.get(), cores,
                             ttmem::tt_metal::KernelBytes{.per_core = 1536});
    distributed::EnqueueMeshWorkload(mesh_->mesh_command_queue(), work, false);
  }
  EXPECT_EQ(device(0).kernels_bytes, 64u * 1536);
  EXPECT_EQ(device(0).kernels_estimated_bytes, 0u);
}

}  // namespace
