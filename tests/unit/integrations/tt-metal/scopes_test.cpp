// SPDX-License-Identifier: Apache-2.0
//
// Tests the facts that host code reports itself, because no hook reports them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/host_api.hpp>
#include <utility>
#include <vector>

#include "support/tracked_process.hpp"
#include "ttmem_tt_metal.hpp"

namespace {

using namespace tt::tt_metal;
using ttmem::tracked_process::allocations;
using ttmem::tracked_process::device;
using ttmem::tt_metal::Label;
using ttmem::tt_metal::ProgramScope;

const CoreRange kRange({0, 0}, {7, 7});

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
  // Returns a workload of one program with one CB and one kernel on all cores.
  distributed::MeshWorkload workload(std::uint32_t bytes) {
    Program program;
    CreateCircularBuffer(
        program, kRange,
        CircularBufferConfig(bytes, {{0, tt::DataFormat::Float16_b}}).set_page_size(0, 2048));
    CreateKernel(program, "kernels/reader.cpp", kRange, DataMovementConfig{});
    distributed::MeshWorkload made;
    made.add_program(distributed::MeshCoordinateRange(mesh_->shape()), std::move(program));
    return made;
  }
  void run(distributed::MeshWorkload& workload) {
    const ProgramScope scope(program_of(workload), mesh_.get(), kRange,
                             ttmem::tt_metal::KernelBytes{.per_core = 1536});
    distributed::EnqueueMeshWorkload(mesh_->mesh_command_queue(), workload, false);
  }
  static const Program& program_of(const distributed::MeshWorkload& workload) {
    return workload.get_programs().begin()->second;
  }

  std::shared_ptr<distributed::MeshDevice> mesh_;
};

TEST_F(ScopesTest, AnOpenedDeviceIsShownWithItsFiguresBeforeItsFirstBuffer) {
  ttmem::tt_metal::device_opened(*mesh_->get_device(0),
                                 {.uid = 0x1f00a, .board = "n150", .dispatch_kernels = {3000, 70}});
  const auto found = device(0);
  EXPECT_EQ(found.uid, 0x1f00au);
  EXPECT_EQ(found.board, "n150");
  EXPECT_EQ(found.arch, "wormhole_b0");
  EXPECT_EQ(found.l1_capacity_bytes, 64u * 1499136);
  EXPECT_EQ(found.used(ttmem::Kind::kernel), 3070u);
  EXPECT_EQ(found.kernels_persistent_bytes, 3070u);
  EXPECT_EQ(found.kernels_estimated_bytes, 0u);
  EXPECT_EQ(allocations(0).size(), 2u);
}

TEST_F(ScopesTest, ABufferHasTheInnermostLabelOfItsThreadAndNoneOutsideOfScopes) {
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

TEST_F(ScopesTest, KernelBytesFromTheCallerAreExact) {
  auto work = workload(4096);
  run(work);
  EXPECT_EQ(device(0).used(ttmem::Kind::kernel), 64u * 1536);
  EXPECT_EQ(device(0).kernels_estimated_bytes, 0u);
}

// Several threads run, free and name programs and buffers at once. Each thread has its own programs
// and buffers.
TEST_F(ScopesTest, ProgramsAndBuffersOfSeveralThreadsAreCompleteAndSeparate) {
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint32_t kRounds = 25;
  std::vector<std::vector<distributed::MeshWorkload>> kept(kThreads);
  std::vector<std::vector<std::shared_ptr<Buffer>>> buffers(kThreads);
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      ttmem::tt_metal::attach();
      const Label label("thread." + std::to_string(thread));
      for (std::uint32_t round = 0; round < kRounds; ++round) {
        auto passing = workload(2048);
        run(passing);
        buffers[thread].push_back(buffer());
        kept[thread].push_back(workload(4096));
        run(kept[thread].back());
        ttmem::tt_metal::forget_program(program_of(passing));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(device(0).programs, kThreads * kRounds);
  EXPECT_EQ(device(0).logical(ttmem::Kind::cb), std::uint64_t{kThreads} * kRounds * 64 * 4096);
  EXPECT_EQ(device(0).used(ttmem::Kind::cb), 64u * 4096);
  std::map<std::string, std::uint32_t> by_label;
  for (const auto& each : allocations(0)) {
    if (each.kind == ttmem::Kind::dram) ++by_label[each.label];
  }
  EXPECT_EQ(by_label.size(), kThreads);
  for (const auto& [label, count] : by_label) EXPECT_EQ(count, kRounds) << label;
  EXPECT_EQ(device(0).anomalies, ttmem::Anomalies{});
}

}  // namespace
