// SPDX-License-Identifier: Apache-2.0
//
// Host code on the dry run with the processor attached. The collector reads the reports back.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/tt_metal.hpp>
#include <utility>
#include <vector>

#include "processor.hpp"
#include "support/tracked_process.hpp"
#include "ttmem_tt_metal.hpp"

namespace ttmem::hooks {

namespace tm = ::tt::tt_metal;
using tm::distributed::MeshBuffer;
using tm::distributed::MeshCoordinate;
using tm::distributed::MeshCoordinateRange;
using tm::distributed::MeshDevice;
using tm::distributed::MeshWorkload;

inline const tm::CoreRange kAll({0, 0}, {7, 7});
inline const tm::CoreRange kLeft({0, 0}, {3, 7});
inline const tm::CoreRange kRight({4, 0}, {7, 7});
inline constexpr std::uint64_t kCores = 64;
inline constexpr std::uint64_t kKiB = 1024;

class HooksTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kChips = 8;

  void SetUp() override {
    open();
    tt_metal::attach();
  }
  void TearDown() override {
    mesh_.reset();
    for (int chip = 0; chip < static_cast<int>(kChips); ++chip) tt_metal::device_closed(chip);
    EXPECT_TRUE(tracked_process::snapshot().allocations.empty());
  }
  void open() {
    ::setenv("TTMEM_DRYRUN_SYSTEM", "t3000:8x8", 1);
    mesh_ = MeshDevice::create(tm::distributed::MeshDeviceConfig(tm::distributed::MeshShape(2, 4)));
  }

  // Ends an operation. After that, all reports of this thread are complete.
  static void end_operation() { tt_metal::Processor::instance()->track_function_end(); }
  static model::Device device(std::uint32_t chip) {
    end_operation();
    return tracked_process::device(chip);
  }

  static void add_cb(tm::Program& program, const tm::CoreRange& cores, std::uint32_t bytes,
                     std::uint8_t index) {
    tm::CreateCircularBuffer(program, cores,
                             tm::CircularBufferConfig(bytes, {{index, tt::DataFormat::Float16_b}})
                                 .set_page_size(index, bytes));
  }
  static void add_view(tm::Program& program, const tm::CoreRange& cores, MeshBuffer& buffer,
                       std::uint8_t index) {
    tm::CreateCircularBuffer(program, cores,
                             tm::CircularBufferConfig(4096, {{index, tt::DataFormat::Float16_b}},
                                                      *buffer.get_reference_buffer())
                                 .set_page_size(index, 4096));
  }
  std::shared_ptr<MeshBuffer> l1_buffer() {
    return MeshBuffer::create(tm::distributed::ReplicatedBufferConfig{.size = kCores * 4096},
                              {.page_size = 4096, .buffer_type = tm::BufferType::L1}, mesh_.get());
  }
  static tm::Program program_of(std::uint32_t bytes, const tm::CoreRange& cores = kAll) {
    tm::Program program;
    add_cb(program, cores, bytes, 0);
    return program;
  }
  // Returns a program in which every circular buffer is a view of the given buffer.
  static tm::Program program_on(MeshBuffer& buffer) {
    tm::Program program;
    add_view(program, kAll, buffer, 0);
    return program;
  }
  MeshWorkload workload(tm::Program program) {
    MeshWorkload made;
    made.add_program(MeshCoordinateRange(mesh_->shape()), std::move(program));
    return made;
  }
  // Runs a workload that has no name, as custom programs do.
  void run(MeshWorkload& workload) {
    tm::distributed::EnqueueMeshWorkload(mesh_->mesh_command_queue(), workload, false);
  }
  // Names the programs of a workload with track_program, as ttnn does, and runs the workload. Does
  // not end the operation.
  void begin_tracked(MeshWorkload& workload) {
    for (auto& [range, program] : workload.get_programs()) {
      tm::GraphTracker::instance().track_program(&program, mesh_.get());
    }
    run(workload);
  }
  void run_tracked(MeshWorkload& workload) {
    begin_tracked(workload);
    end_operation();
  }
  static void expect_cbs(std::uint64_t physical, std::uint64_t logical, std::uint64_t programs,
                         bool estimate) {
    for (std::uint32_t chip = 0; chip < kChips; ++chip) {
      const auto found = device(chip);
      EXPECT_EQ(found.used(Kind::cb), physical) << "chip " << chip;
      EXPECT_EQ(found.logical(Kind::cb), logical) << "chip " << chip;
      EXPECT_EQ(found.programs, programs) << "chip " << chip;
      EXPECT_EQ(found.cb_estimate, estimate) << "chip " << chip;
    }
  }
  static void expect_no_anomalies() {
    for (const auto& each : tracked_process::snapshot().devices) {
      EXPECT_EQ(each.anomalies, Anomalies{}) << "chip " << each.id;
    }
  }
  // Waits until the condition holds. Calls no hook during the wait.
  template <typename Condition>
  static bool becomes(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }

  std::shared_ptr<MeshDevice> mesh_;
};

}  // namespace ttmem::hooks
