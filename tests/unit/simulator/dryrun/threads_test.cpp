// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <thread>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/tt_metal.hpp>

#include "fixtures.hpp"

namespace dryrun_test {
namespace {

constexpr int kThreads = 4;
constexpr int kPerThread = 200;

// Runs the action on several threads at the same time.
void in_parallel(const std::function<void(int)>& action) {
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      action(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Threads, BuffersAllocatedAtTheSameTimeDoNotOverlap) {
  use_system("n150");
  const auto mesh = MeshDevice::create_unit_mesh(0);
  std::vector<std::vector<std::shared_ptr<Buffer>>> buffers(kThreads);
  in_parallel([&](int thread) {
    auto& own = buffers[static_cast<std::size_t>(thread)];
    for (int i = 0; i < kPerThread; ++i) {
      own.push_back(Buffer::create(mesh.get(), 12 * 2048, 2048, BufferType::DRAM));
      if (i % 3 == 0) own.erase(own.begin());
    }
  });
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const auto& of_thread : buffers) {
    for (const auto& buffer : of_thread) {
      ranges.emplace_back(buffer->address(), buffer->address() + buffer->aligned_size_per_bank());
    }
  }
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    EXPECT_LE(ranges[i - 1].second, ranges[i].first);
  }
  EXPECT_EQ(mesh->allocator()->get_allocated_buffers().size(), ranges.size());
  buffers.clear();
  EXPECT_EQ(mesh->allocator()->get_statistics(BufferType::DRAM).total_allocated_bytes, 0u);
}

TEST(Threads, AProcessorOnEveryThreadReceivesEveryEvent) {
  use_system("n150");
  const auto mesh = MeshDevice::create_unit_mesh(0);
  const auto recorder = std::make_shared<Recorder>();
  in_parallel([&](int) {
    GraphTracker::instance().push_processor(recorder);
    for (int i = 0; i < kPerThread; ++i) {
      const auto buffer = Buffer::create(mesh.get(), 2048, 2048, BufferType::L1);
      Program program;
      add_cb(program, grid(8, 8), 4096);
      detail::CompileProgram(mesh.get(), program);
    }
    GraphTracker::instance().pop_processor();
  });
  const std::size_t all = kThreads * kPerThread;
  EXPECT_EQ(recorder->take_allocated().size(), all);
  EXPECT_EQ(recorder->take_freed().size(), all);
  EXPECT_EQ(recorder->take_cbs().size(), all);
  EXPECT_EQ(recorder->take_cb_frees().size(), all);
  EXPECT_EQ(cb_bytes(mesh->get_device(0)), 0u);
}

TEST(Threads, AProcessorReceivesNoEventsOfOtherThreads) {
  use_system("n150");
  const auto mesh = MeshDevice::create_unit_mesh(0);
  Listening listening;
  std::thread([&] { Buffer::create(mesh.get(), 2048, 2048, BufferType::DRAM); }).join();
  EXPECT_TRUE(listening->take_allocated().empty());
}

TEST(Threads, OneProgramRunByManyThreadsIsReportedOnce) {
  use_system("t3000");
  const auto mesh = MeshDevice::create(MeshDeviceConfig(MeshShape(2, 4)));
  const auto recorder = std::make_shared<Recorder>();
  Program program;
  add_cb(program, grid(8, 7), 4096);
  in_parallel([&](int) {
    GraphTracker::instance().push_processor(recorder);
    for (int i = 0; i < kPerThread; ++i) detail::CompileProgram(mesh.get(), program);
    GraphTracker::instance().pop_processor();
  });
  EXPECT_EQ(recorder->take_cbs().size(), 8u);
}

TEST(Threads, SeveralProgramsOfAWorkloadArePlacedByTheWorkersOfTheMesh) {
  use_system("t3000");
  const auto mesh = MeshDevice::create(MeshDeviceConfig(MeshShape(2, 4)));
  Listening on_this_thread;
  const auto recorder = std::make_shared<Recorder>();
  for (std::size_t worker = 0; worker < mesh->num_devices(); ++worker) {
    mesh->enqueue_to_thread_pool([&] { GraphTracker::instance().push_processor(recorder); });
  }
  mesh->wait_for_thread_pool();
  MeshWorkload workload;
  for (std::uint32_t row = 0; row < 2; ++row) {
    Program program;
    add_cb(program, grid(8, 7), 4096);
    workload.add_program(MeshCoordinateRange(MeshCoordinate(row, 0), MeshCoordinate(row, 3)),
                         std::move(program));
  }
  run(*mesh, workload);
  // The CBs of both programs are reported on every chip, although the range of each program has
  // only half of the chips.
  EXPECT_TRUE(on_this_thread->take_cbs().empty());
  EXPECT_EQ(recorder->take_cbs().size(), 16u);
  run(*mesh, workload);
  EXPECT_TRUE(recorder->take_cbs().empty());
}

TEST(Threads, WaitingForTheWorkersThrowsTheExceptionOfATask) {
  use_system("t3000");
  const auto mesh = MeshDevice::create(MeshDeviceConfig(MeshShape(2, 4)));
  mesh->enqueue_to_thread_pool([] { throw std::runtime_error("from a worker"); });
  EXPECT_THROW(mesh->wait_for_thread_pool(), std::runtime_error);
  mesh->wait_for_thread_pool();
}

}  // namespace
}  // namespace dryrun_test
