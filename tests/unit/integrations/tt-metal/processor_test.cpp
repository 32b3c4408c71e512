// SPDX-License-Identifier: Apache-2.0
//
// Tests the whole path of a report: host code on the dry run, the processor, libttmem.so, the
// segment, the collector.
#include "processor.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/program_cache.hpp>
#include <tt-metalium/tt_metal.hpp>

#include "support/tracked_process.hpp"
#include "ttmem_tt_metal.hpp"

namespace {

using namespace tt::tt_metal;
using distributed::MeshBuffer;
using distributed::MeshCoordinate;
using distributed::MeshCoordinateRange;
using distributed::MeshDevice;
using distributed::MeshWorkload;
using ttmem::Kind;
using ttmem::tracked_process::allocations;
using ttmem::tt_metal::ProgramScope;

constexpr std::uint32_t kChips = 8;
constexpr std::uint64_t kCores = 64;
constexpr std::uint64_t kMiB = 1 << 20;

class ProcessorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TTMEM_DRYRUN_SYSTEM", "t3000:8x8", 1);
    mesh_ = MeshDevice::create(distributed::MeshDeviceConfig(distributed::MeshShape(2, 4)), 32768,
                               1 << 20);
    ttmem::tt_metal::attach();
  }
  void TearDown() override {
    mesh_.reset();
    for (int chip = 0; chip < static_cast<int>(kChips); ++chip) {
      ttmem::tt_metal::device_closed(chip);
    }
    EXPECT_TRUE(ttmem::tracked_process::snapshot().allocations.empty());
  }

  // Ends an operation, so that the reports of this thread are complete. Then returns the device as
  // readers see it.
  static ttmem::model::Device device(std::uint32_t chip) {
    ttmem::tt_metal::Processor::instance()->track_function_end();
    return ttmem::tracked_process::device(chip);
  }

  static Program program_of(std::uint32_t bytes) {
    Program program;
    CreateCircularBuffer(
        program, CoreRange({0, 0}, {7, 7}),
        CircularBufferConfig(bytes, {{0, tt::DataFormat::Float16_b}}).set_page_size(0, bytes));
    return program;
  }
  // Returns a workload of one program with one CB. The program runs on all cores of all chips.
  MeshWorkload workload(std::uint32_t bytes) {
    MeshWorkload made;
    made.add_program(MeshCoordinateRange(mesh_->shape()), program_of(bytes));
    return made;
  }
  void run(MeshWorkload& workload) {
    distributed::EnqueueMeshWorkload(mesh_->mesh_command_queue(), workload, false);
  }
  static void expect_cbs(std::uint64_t physical, std::uint64_t logical, std::uint64_t programs) {
    for (std::uint32_t chip = 0; chip < kChips; ++chip) {
      const auto found = device(chip);
      EXPECT_EQ(found.used(Kind::cb), physical) << "chip " << chip;
      EXPECT_EQ(found.logical(Kind::cb), logical) << "chip " << chip;
      EXPECT_EQ(found.programs, programs) << "chip " << chip;
    }
  }
  static void expect_no_anomalies() {
    for (const auto& each : ttmem::tracked_process::snapshot().devices) {
      EXPECT_EQ(each.anomalies, ttmem::Anomalies{}) << "chip " << each.id;
    }
  }

  std::shared_ptr<MeshDevice> mesh_;
};

TEST_F(ProcessorTest, AMeshBufferCountsOnEveryChip) {
  auto buffer = MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = 4096},
                                   {.page_size = 2048, .buffer_type = BufferType::L1}, mesh_.get());
  for (std::uint32_t chip = 0; chip < kChips; ++chip) {
    const auto held = allocations(chip);
    ASSERT_EQ(held.size(), 1u);
    EXPECT_EQ(held[0].kind, Kind::l1);
    EXPECT_EQ(held[0].bytes, 4096u);
    EXPECT_EQ(held[0].bytes_per_bank, 2048u);
    EXPECT_EQ(held[0].address, buffer->address());
    EXPECT_FALSE(held[0].cores.has_value());
  }
  buffer.reset();
  for (std::uint32_t chip = 0; chip < kChips; ++chip) EXPECT_TRUE(allocations(chip).empty());
  expect_no_anomalies();
}

TEST_F(ProcessorTest, AOnePageL1BufferShowsIts2KiBAndThe128KiBThatAreGone) {
  const auto buffer =
      MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = 2048},
                         {.page_size = 2048, .buffer_type = BufferType::L1}, mesh_.get());
  EXPECT_EQ(device(3).logical(Kind::l1), 2048u);
  EXPECT_EQ(device(3).physical(Kind::l1), 131072u);
}

// Allocates a shard without and with a sub-device. The only sub-device has all cores, so both
// shards take every core.
TEST_F(ProcessorTest, AShardTakesEveryCoreAndASubDevicesShardTheCoresOfTheSubDevice) {
  const BufferShardingArgs shard(ShardSpecBuffer(CoreRangeSet(CoreRange({1, 1}, {1, 1})), {1, 2048},
                                                 ShardOrientation::ROW_MAJOR, {1, 2048}, {1, 1}),
                                 TensorMemoryLayout::HEIGHT_SHARDED);
  {
    const auto buffer = Buffer::create(mesh_.get(), 2048, 2048, BufferType::L1, shard);
    EXPECT_EQ(device(3).physical(Kind::l1), 2048u * kCores);
    EXPECT_EQ(device(3).data(Kind::l1), 2048u);
    EXPECT_FALSE(allocations(3).at(0).own_banks);
    EXPECT_EQ(allocations(3).at(0).cores->count(), 1u);
  }
  const auto buffer =
      Buffer::create(mesh_.get(), 2048, 2048, BufferType::L1, shard, std::nullopt, SubDeviceId{0});
  EXPECT_TRUE(allocations(3).at(0).own_banks);
  EXPECT_EQ(allocations(3).at(0).cores->count(), kCores);
}

TEST_F(ProcessorTest, DevicesAreAnnouncedWithTheirFigures) {
  const auto buffer = MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = 2048},
                                         {.page_size = 2048}, mesh_.get());
  const auto found = device(3);
  EXPECT_EQ(found.arch, "wormhole_b0");
  EXPECT_EQ(found.grid_x, 8);
  EXPECT_EQ(found.grid_y, 8);
  EXPECT_EQ(found.l1_capacity_bytes, kCores * 1499136);
  EXPECT_EQ(found.dram_capacity_bytes, 12ull << 30);
  EXPECT_GE(found.trace_capacity_bytes.value_or(0), kMiB);
}

// Tests the case "Mesh Device (8 devices)" of seed 002, problem 2 (docs/internals/seeds.md).
TEST_F(ProcessorTest, AProgramOnEightDevicesHasTheSameCbBytesOnEachAndNoneAfterItsEnd) {
  {
    auto work = workload(4096);
    run(work);
    expect_cbs(kCores * 4096, kCores * 4096, 1);
    run(work);
    expect_cbs(kCores * 4096, kCores * 4096, 1);
  }
  expect_cbs(0, 0, 0);
  expect_no_anomalies();
}

// Tests the case "Physical vs Logical" of seed 000 (docs/internals/seeds.md).
TEST_F(ProcessorTest, ThirtyCachedProgramsAre10MiBPhysicalAnd300MiBLogical) {
  auto& cache = mesh_->get_program_cache();
  for (std::uint64_t variant = 0; variant < 30; ++variant) {
    auto work = workload(10 * kMiB / kCores);
    run(work);
    cache.insert({variant, "variant"},
                 {program_cache::detail::CachedMeshWorkload<int>(std::move(work), 0), 0});
  }
  expect_cbs(10 * kMiB, 300 * kMiB, 30);
  mesh_->clear_program_cache();
  expect_cbs(0, 0, 0);
  expect_no_anomalies();
}

// Total L1 rises while the buffers are live. The bytes of the CBs do not change.
TEST_F(ProcessorTest, ASpikeOfL1BuffersLeavesTheCbsAsTheyAre) {
  auto work = workload(29 * 16384);  // 29.0 MiB
  run(work);
  const auto before = device(6);
  {
    const auto spike =
        MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = kCores * 524288},
                           {.page_size = 524288, .buffer_type = BufferType::L1}, mesh_.get());
    EXPECT_EQ(device(6).l1_used_bytes, 61 * kMiB);
    EXPECT_EQ(device(6).used(Kind::cb), 29 * kMiB);
  }
  EXPECT_EQ(device(6).l1_used_bytes, before.l1_used_bytes);
  EXPECT_EQ(device(6).l1_peak_bytes, 61 * kMiB);
}

TEST_F(ProcessorTest, EveryKindOfBufferHasItsOwnFigure) {
  const auto create = [&](BufferType type) {
    return MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = 2048},
                              {.page_size = 2048, .buffer_type = type}, mesh_.get());
  };
  const auto weights = create(BufferType::DRAM);
  const auto scratch = create(BufferType::L1);
  const auto trace = create(BufferType::TRACE);
  const auto semaphores = Buffer::create(
      mesh_.get(), 1024, 1024, BufferType::L1_SMALL,
      BufferShardingArgs(ShardSpecBuffer(CoreRangeSet(CoreRange({0, 0}, {0, 0})), {1, 1024},
                                         ShardOrientation::ROW_MAJOR, {1, 1024}, {1, 1}),
                         TensorMemoryLayout::HEIGHT_SHARDED));
  auto work = workload(4096);
  run(work);
  const auto found = device(1);
  EXPECT_EQ(found.logical(Kind::dram), 2048u);
  EXPECT_EQ(found.logical(Kind::l1), 2048u);
  EXPECT_EQ(found.used(Kind::l1_small), kCores * 1024);
  EXPECT_EQ(found.data(Kind::l1_small), 1024u);
  EXPECT_EQ(found.used(Kind::cb), kCores * 4096);
  EXPECT_GE(found.used(Kind::trace).value_or(0), 2048u);
  EXPECT_EQ(found.l1_used_bytes, kCores * (2048 + 1024 + 4096));
}

TEST_F(ProcessorTest, ADeviceThatComesLaterIsCountedOnceAndTheOthersNotAgain) {
  mesh_.reset();
  ::setenv("TTMEM_DRYRUN_SYSTEM", "galaxy", 1);
  mesh_ = MeshDevice::create(distributed::MeshDeviceConfig(distributed::MeshShape(2, 4)));
  const auto ids = mesh_->get_device_ids();
  int ninth = 0;
  while (std::find(ids.begin(), ids.end(), ninth) != ids.end()) ++ninth;
  IDevice* const later = CreateDevice(ninth);
  const auto cb_bytes = [](int chip) {
    return device(static_cast<std::uint32_t>(chip)).logical(Kind::cb);
  };
  {
    Program program = program_of(4096);
    detail::CompileProgram(mesh_.get(), program);
    const auto buffer = MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = 2048},
                                           {.page_size = 2048}, mesh_.get());
    detail::CompileProgram(later, program);
    detail::CompileProgram(later, program);
    detail::CompileProgram(mesh_.get(), program);
    for (const int chip : ids) EXPECT_EQ(cb_bytes(chip), kCores * 4096) << "chip " << chip;
    EXPECT_EQ(cb_bytes(ninth), kCores * 4096);
  }
  for (const int chip : ids) EXPECT_EQ(cb_bytes(chip), 0u) << "chip " << chip;
  EXPECT_EQ(cb_bytes(ninth), 0u);
  CloseDevice(later);
  mesh_.reset();
  for (const int chip : ids) ttmem::tt_metal::device_closed(chip);
  ttmem::tt_metal::device_closed(ninth);
}

TEST_F(ProcessorTest, ProgramsThatFollowEachOtherAreDistinguished) {
  auto first = workload(4096);
  auto second = workload(8192);
  run(first);
  run(second);
  expect_cbs(kCores * 8192, kCores * 12288, 2);
}

TEST_F(ProcessorTest, AnUnknownFreeFreesTheYoungestProgram) {
  auto kept = workload(4096);
  run(kept);
  {
    auto temporary = workload(8192);
    run(temporary);
  }
  expect_cbs(kCores * 4096, kCores * 4096, 1);
}

TEST_F(ProcessorTest, AScopedProgramWithANewLayoutReplacesItsOldLayout) {
  auto work = workload(4096);
  Program& program = work.get_programs().begin()->second;
  {
    const ProgramScope scope(program);
    run(work);
  }
  UpdateCircularBufferTotalSize(program, program.circular_buffers().front()->id(), 16384);
  {
    const ProgramScope scope(program);
    run(work);
  }
  expect_cbs(kCores * 16384, kCores * 16384, 1);
}

TEST_F(ProcessorTest, AnAnnouncedEndRemovesExactlyThatProgram) {
  auto scoped = std::make_optional(workload(4096));
  {
    const ProgramScope scope(scoped->get_programs().begin()->second);
    run(*scoped);
  }
  auto other = workload(8192);
  run(other);
  ttmem::tt_metal::forget_program(scoped->get_programs().begin()->second);
  scoped.reset();
  expect_cbs(kCores * 8192, kCores * 8192, 1);
}

// The scope has the mesh as an argument. Therefore each run of the program counts as a dispatch to
// the chips of the mesh.
TEST_F(ProcessorTest, AScopeWithADeviceMakesResidentCbsKnown) {
  auto small = workload(4096);
  auto large = workload(8192);
  const auto run_in_scope = [&](MeshWorkload& work) {
    const ProgramScope scope(work.get_programs().begin()->second, mesh_.get());
    run(work);
  };
  run_in_scope(large);
  EXPECT_EQ(device(5).cb_resident_bytes, kCores * 8192);
  run_in_scope(small);
  EXPECT_EQ(device(5).cb_resident_bytes, kCores * 4096);
  run_in_scope(large);
  EXPECT_EQ(device(5).cb_resident_bytes, kCores * 8192);
  expect_cbs(kCores * 8192, kCores * 12288, 2);
  run_in_scope(small);
  ttmem::tt_metal::trace_replayed(
      mesh_.get(), {&small.get_programs().begin()->second, &large.get_programs().begin()->second});
  EXPECT_EQ(device(5).cb_resident_bytes, kCores * 8192);
  expect_no_anomalies();
}

// The dispatch of a program loads its kernels. The dispatch of the next program evicts these
// kernels.
TEST_F(ProcessorTest, KernelsWithoutABinaryAreAnEstimateAndGoWithTheNextProgram) {
  const CoreRange cores({0, 0}, {7, 7});
  const auto run_with_kernels = [&](int count) {
    Program program = program_of(4096);
    for (int i = 0; i < count; ++i) {
      CreateKernel(program, "kernels/reader.cpp", cores, DataMovementConfig{});
    }
    MeshWorkload work;
    work.add_program(MeshCoordinateRange(mesh_->shape()), std::move(program));
    const ProgramScope scope(work.get_programs().begin()->second, mesh_.get());
    run(work);
    return work;
  };
  {
    const auto first = run_with_kernels(1);
    EXPECT_EQ(device(2).used(Kind::kernel), kCores * 50 * 1024);
    EXPECT_EQ(device(2).kernels_estimated_bytes, kCores * 50 * 1024);
    const auto second = run_with_kernels(3);
    EXPECT_EQ(device(2).used(Kind::kernel), kCores * 69 * 1024) << "the ring of a core has no more";
    EXPECT_EQ(device(2).programs, 2u);
  }
  EXPECT_EQ(device(2).used(Kind::kernel), 0u);
  expect_no_anomalies();
}

TEST_F(ProcessorTest, ARunThatFailsIsNoDispatch) {
  auto buffer =
      MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = kCores * 1200000},
                         {.page_size = 1200000, .buffer_type = BufferType::L1}, mesh_.get());
  auto work = workload(1 << 19);
  const auto run_in_scope = [&] {
    const ProgramScope scope(work.get_programs().begin()->second, mesh_.get());
    run(work);
  };
  EXPECT_THROW(run_in_scope(), std::exception);
  // The CBs are placed, although they overlap the buffer.
  expect_cbs(kCores << 19, kCores << 19, 1);
  EXPECT_EQ(device(0).cb_resident_bytes.value_or(0), 0u);
  EXPECT_EQ(device(0).headroom_bytes_per_core, 1499136 - 32768 - 1200000 - 105664 - (1 << 19));
  buffer.reset();
  run_in_scope();
  expect_cbs(kCores << 19, kCores << 19, 1);
  EXPECT_EQ(device(0).cb_resident_bytes, kCores << 19);
  expect_no_anomalies();
}

TEST(KernelBytes, AreThoseOfTheBinariesWhereTheyAreKnown) {
  using detail::KernelMeta;
  const KernelMeta known{"a",
                         "a",
                         HalProcessorClassType::COMPUTE,
                         HalProgrammableCoreType::TENSIX,
                         std::nullopt,
                         {{0, 4000}, {1, 5000}}};
  const KernelMeta unknown{
      "b", "b", HalProcessorClassType::DM, HalProgrammableCoreType::TENSIX, std::nullopt, {}};
  const KernelMeta elsewhere{
      "c",          "c",        HalProcessorClassType::DM, HalProgrammableCoreType::ACTIVE_ETH,
      std::nullopt, {{0, 7000}}};
  const auto exact = ttmem::tt_metal::kernel_bytes({known, elsewhere});
  EXPECT_EQ(exact.per_core, 9000u);
  EXPECT_FALSE(exact.estimate);
  const auto mixed = ttmem::tt_metal::kernel_bytes({known, unknown});
  EXPECT_EQ(mixed.per_core, 9000u + 50 * 1024);
  EXPECT_TRUE(mixed.estimate);
}

TEST_F(ProcessorTest, AGloballyAllocatedCbIsCountedAsTheBufferAndNotTwice) {
  const auto buffer =
      MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = kCores * 4096},
                         {.page_size = 4096, .buffer_type = BufferType::L1}, mesh_.get());
  Program program = program_of(2048);
  CreateCircularBuffer(
      program, CoreRange({0, 0}, {7, 7}),
      CircularBufferConfig(4096, {{1, tt::DataFormat::Float16_b}}, *buffer->get_reference_buffer())
          .set_page_size(1, 4096));
  MeshWorkload work;
  work.add_program(MeshCoordinateRange(mesh_->shape()), std::move(program));
  run(work);
  expect_cbs(kCores * 2048, kCores * 2048, 1);
  EXPECT_EQ(device(0).l1_used_bytes, kCores * (2048 + 4096));
}

TEST_F(ProcessorTest, WorkersOfTheMeshAreTrackedOnceTheyAreAttached) {
  ttmem::tt_metal::attach_workers(*mesh_);
  MeshWorkload work;
  for (std::uint32_t row = 0; row < 2; ++row) {
    work.add_program(MeshCoordinateRange(MeshCoordinate(row, 0), MeshCoordinate(row, 3)),
                     program_of(4096));
  }
  run(work);
  // A list of circular buffers is usually reported at the next hook on its thread. Here the mesh's
  // threads run no further hook, so the processor's own thread reports their lists after some
  // milliseconds.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (device(7).programs != 2u && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  expect_cbs(kCores * 4096, kCores * 8192, 2);
}

TEST_F(ProcessorTest, AllocationFromSeveralThreadsIsComplete) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kPerThread = 100;
  std::vector<std::vector<std::shared_ptr<Buffer>>> buffers(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      ttmem::tt_metal::attach();
      for (std::size_t n = 0; n < kPerThread; ++n) {
        buffers[i].push_back(Buffer::create(mesh_.get(), 2048, 2048, BufferType::DRAM));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::uint32_t chip = 0; chip < kChips; ++chip) {
    EXPECT_EQ(allocations(chip).size(), kThreads * kPerThread);
    EXPECT_EQ(device(chip).logical(Kind::dram), kThreads * kPerThread * 2048);
  }
  buffers.clear();  // frees the buffers on a thread that did not allocate them
  for (std::uint32_t chip = 0; chip < kChips; ++chip) EXPECT_TRUE(allocations(chip).empty());
  expect_no_anomalies();
}

}  // namespace
