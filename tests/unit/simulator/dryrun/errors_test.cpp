// SPDX-License-Identifier: Apache-2.0
//
// Tests errors of the dry run. Errors have the runtime's wording and name the largest holders. An
// error changes no state, with one exception: a program that does not fit stays placed.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <set>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/program_cache.hpp>
#include <tt-metalium/tt_metal.hpp>

#include "fixtures.hpp"

namespace dryrun_test {
namespace {

using ::testing::Test;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The state of a device, as far as the interface of the dry run shows it.
struct Held {
  // For each buffer type: bytes allocated, bytes free, bytes of the largest free block.
  std::vector<std::array<std::size_t, 3>> banks;
  std::multiset<std::uint64_t> addresses;
  std::optional<DeviceAddr> lowest_l1;
  std::vector<std::uint64_t> cbs;  // CB bytes and number of programs of each chip

  bool operator==(const Held&) const = default;
};

Held held_by(const MeshDevice& mesh) {
  Held held;
  for (const BufferType type :
       {BufferType::DRAM, BufferType::L1, BufferType::L1_SMALL, BufferType::TRACE}) {
    const Statistics of = mesh.allocator()->get_statistics(type);
    held.banks.push_back(
        {of.total_allocated_bytes, of.total_free_bytes, of.largest_free_block_bytes});
  }
  for (const Buffer* buffer : mesh.allocator()->get_allocated_buffers()) {
    held.addresses.insert(buffer->address());
  }
  held.lowest_l1 = mesh.lowest_occupied_compute_l1_address();
  for (const IDevice* chip : mesh.get_devices()) {
    held.cbs.push_back(cb_bytes(chip));
    held.cbs.push_back(dynamic_cast<const Device&>(*chip).num_registered_programs());
  }
  return held;
}

void expect_silence(Listening& listening) {
  EXPECT_TRUE(listening->take_allocated().empty());
  EXPECT_TRUE(listening->take_freed().empty());
  EXPECT_TRUE(listening->take_cbs().empty());
  EXPECT_TRUE(listening->take_cb_frees().empty());
}

void forget_what_was_heard(Listening& listening) {
  listening->take_allocated();
  listening->take_freed();
  listening->take_cbs();
  listening->take_cb_frees();
}

class Errors : public Test {
 protected:
  void SetUp() override {
    use_system("n150");
    mesh_ = MeshDevice::create_unit_mesh(0);
  }
  std::shared_ptr<MeshBuffer> l1_buffer(DeviceAddr bytes_per_core) {
    return MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = bytes_per_core * 64},
                              {.page_size = bytes_per_core, .buffer_type = BufferType::L1},
                              mesh_.get());
  }

  std::shared_ptr<MeshDevice> mesh_;
};

TEST_F(Errors, OutOfMemoryHasTheRuntimesWordingAndTheLargestHolders) {
  const auto small = l1_buffer(1024);
  const auto large = l1_buffer(1000000);
  const std::string error = error_of([&] { l1_buffer(500000); });
  EXPECT_TRUE(contains(
      error,
      "Out of Memory: Not enough space to allocate 32000000 B L1 buffer across 64 banks, where "
      "each bank needs to store 500000 B, but bank size is 1393472 B (allocated: 1001024 B, free: "
      "392448 B, largest free block: 392448 B)"))
      << error;
  const auto first = error.find("1000000 B per bank at " + std::to_string(large->address()));
  const auto second = error.find("1024 B per bank at " + std::to_string(small->address()));
  EXPECT_NE(first, std::string::npos) << error;
  EXPECT_NE(second, std::string::npos) << error;
  EXPECT_LT(first, second);
}

TEST_F(Errors, OutOfMemoryLeavesEverythingAsItWas) {
  Listening listening;
  const auto held = l1_buffer(1000000);
  forget_what_was_heard(listening);
  const Held before = held_by(*mesh_);
  ASSERT_EQ(before.banks[1], (std::array<std::size_t, 3>{1000000, 393472, 393472}));
  EXPECT_TRUE(contains(error_of([&] { l1_buffer(500000); }), "Out of Memory"));
  EXPECT_EQ(held_by(*mesh_), before);
  expect_silence(listening);
  EXPECT_EQ(l1_buffer(393472)->address(), 105664u);
}

// Enough bytes are free for the buffer, but no free block is large enough.
TEST_F(Errors, AFragmentedMemoryIsReportedAndItsHolesStayUsable) {
  Listening listening;
  const auto top = l1_buffer(400000);
  auto hole = l1_buffer(400000);
  const auto bottom = l1_buffer(400000);
  const auto address = hole->address();
  hole.reset();
  forget_what_was_heard(listening);
  const Held before = held_by(*mesh_);
  const std::string error = error_of([&] { l1_buffer(500000); });
  EXPECT_TRUE(contains(error, "(allocated: 800000 B, free: 593472 B, largest free block: 400000 B"))
      << error;
  EXPECT_EQ(held_by(*mesh_), before);
  expect_silence(listening);
  EXPECT_EQ(l1_buffer(400000)->address(), address);
}

TEST_F(Errors, AClashHasTheRuntimesWordingAndBothSides) {
  const auto buffer = l1_buffer(524800);
  ASSERT_EQ(buffer->address(), 974336u);
  Program program;
  add_cb(program, grid(8, 8), 983872);
  auto workload = workload_of(*mesh_, std::move(program));
  const std::string error = error_of([&] { run(*mesh_, workload); });
  EXPECT_TRUE(contains(error, "Statically allocated circular buffers in program ")) << error;
  EXPECT_TRUE(contains(error,
                       " clash with L1 buffers on core range [0-0 - 7-7]. L1 buffer "
                       "allocated at 974336 and static circular buffer region ends at 1089536"))
      << error;
  EXPECT_TRUE(contains(error, "overlap by 115200 B")) << error;
  EXPECT_TRUE(contains(error, "524800 B per bank at 974336")) << error;
  EXPECT_TRUE(contains(error, "983872 B at 105664 on {[0-0 - 7-7]}")) << error;
}

// The dry run reports circular buffers before it finds the clash, as TT-Metal does.
TEST_F(Errors, AProgramThatClashesIsReportedOnceAndCanRunLater) {
  Listening listening;
  auto buffer = l1_buffer(524800);
  Program program;
  add_cb(program, grid(8, 8), 983872);
  auto workload = workload_of(*mesh_, std::move(program));
  forget_what_was_heard(listening);
  const Held before = held_by(*mesh_);
  ASSERT_EQ(before.lowest_l1, 974336u);
  for (int run_number = 0; run_number < 2; ++run_number) {
    EXPECT_TRUE(contains(error_of([&] { run(*mesh_, workload); }), "clash with L1 buffers"));
    EXPECT_EQ(held_by(*mesh_).lowest_l1, before.lowest_l1);
    EXPECT_EQ(listening->take_cbs().size(), run_number == 0 ? 1u : 0u);
    EXPECT_EQ(cb_bytes(mesh_->get_device(0)), 64u * 983872);
  }
  buffer.reset();
  run(*mesh_, workload);
  EXPECT_EQ(listening->take_cbs().size(), 0u);
  EXPECT_EQ(cb_bytes(mesh_->get_device(0)), 64u * 983872);
}

// A shard takes its address range on every core, because of lockstep.
TEST_F(Errors, AShardOnOneCoreClashesWithCircularBuffersOnOthers) {
  const auto shard = Buffer::create(mesh_.get(), 819200, 2048, BufferType::L1,
                                    height_sharded(CoreRange({0, 0}, {0, 0}), 400, 2048));
  ASSERT_EQ(shard->address(), 679936u);
  EXPECT_TRUE(contains(error_of([&] {
                         Buffer::create(mesh_.get(), 819200, 2048, BufferType::L1,
                                        height_sharded(CoreRange({1, 1}, {1, 1}), 400, 2048));
                       }),
                       "free: 574272 B"));
  Program program;
  add_cb(program, CoreRange({5, 5}, {6, 6}), 614400);
  auto workload = workload_of(*mesh_, std::move(program));
  const std::string error = error_of([&] { run(*mesh_, workload); });
  EXPECT_TRUE(contains(error,
                       "on core range [5-5 - 6-6]. L1 buffer allocated at 679936 and "
                       "static circular buffer region ends at 720064"))
      << error;
}

TEST_F(Errors, TheEndOfAProgramThatOnlyClashedIsReported) {
  Listening listening;
  const auto buffer = l1_buffer(524800);
  forget_what_was_heard(listening);
  {
    Program program;
    add_cb(program, grid(8, 8), 983872);
    auto workload = workload_of(*mesh_, std::move(program));
    EXPECT_TRUE(contains(error_of([&] { run(*mesh_, workload); }), "clash with L1 buffers"));
    EXPECT_EQ(listening->take_cbs().size(), 1u);
  }
  EXPECT_EQ(listening->take_cb_frees().size(), 1u);
  EXPECT_EQ(cb_bytes(mesh_->get_device(0)), 0u);
}

TEST_F(Errors, AnL1BufferThatComesLaterClashesAtTheNextRun) {
  Listening listening;
  Program program;
  add_cb(program, grid(8, 8), 983872);
  auto workload = workload_of(*mesh_, std::move(program));
  run(*mesh_, workload);
  const auto buffer = l1_buffer(524800);
  forget_what_was_heard(listening);
  const Held before = held_by(*mesh_);
  ASSERT_EQ(before.cbs, (std::vector<std::uint64_t>{64u * 983872, 1}));
  EXPECT_TRUE(contains(error_of([&] { run(*mesh_, workload); }), "clash with L1 buffers"));
  EXPECT_EQ(held_by(*mesh_), before);
  expect_silence(listening);
}

TEST_F(Errors, CircularBuffersPastTheEndOfL1AreReportedBeforeTheError) {
  Listening listening;
  {
    Program program;
    add_cb(program, grid(8, 8), 4096, 0);
    add_cb(program, grid(8, 8), 1400000, 1);
    auto workload = workload_of(*mesh_, std::move(program));
    EXPECT_TRUE(contains(error_of([&] { run(*mesh_, workload); }),
                         "Statically allocated circular buffers on core range [0-0 - 7-7] grow to "
                         "1509760 B which is beyond max L1 size of 1499136 B"));
    EXPECT_EQ(listening->take_cbs().size(), 2u);
    EXPECT_EQ(dynamic_cast<Device&>(*mesh_->get_device(0)).num_registered_programs(), 1u);
  }
  EXPECT_EQ(listening->take_cb_frees().size(), 1u);
  EXPECT_EQ(dynamic_cast<Device&>(*mesh_->get_device(0)).num_registered_programs(), 0u);
}

// The worker threads of the mesh place the programs of this workload. The test therefore also
// records the events of those threads.
TEST_F(Errors, AllProgramsOfAWorkloadArePlacedWhenOneDoesNotFit) {
  use_system("t3000");
  mesh_.reset();
  mesh_ = MeshDevice::create(MeshDeviceConfig(MeshShape(2, 4)));
  Listening listening;
  for (std::size_t worker = 0; worker < mesh_->num_devices(); ++worker) {
    mesh_->enqueue_to_thread_pool(
        [&] { GraphTracker::instance().push_processor(listening.shared()); });
  }
  mesh_->wait_for_thread_pool();
  const Held before = held_by(*mesh_);
  // The error does not depend on the order of the programs.
  for (const auto& bytes : {std::pair(4096u, 1500000u), std::pair(1500000u, 4096u)}) {
    MeshWorkload workload;
    for (const std::uint32_t row : {0u, 1u}) {
      Program program;
      add_cb(program, grid(8, 7), row == 0 ? bytes.first : bytes.second);
      workload.add_program(MeshCoordinateRange(MeshCoordinate(row, 0), MeshCoordinate(row, 3)),
                           std::move(program));
    }
    const std::string error = error_of([&] { run(*mesh_, workload); });
    EXPECT_TRUE(contains(error, "beyond max L1 size of 1499136 B")) << error;
    EXPECT_EQ(listening->take_cbs().size(), 16u);
    for (const IDevice* chip : mesh_->get_devices()) {
      EXPECT_EQ(dynamic_cast<const Device&>(*chip).num_registered_programs(), 2u);
    }
  }
  EXPECT_EQ(held_by(*mesh_), before) << "their end has freed them";
}

TEST_F(Errors, L1SmallTakesShardedBuffersOnly) {
  EXPECT_TRUE(
      contains(error_of([&] { Buffer::create(mesh_.get(), 2048, 2048, BufferType::L1_SMALL); }),
               "L1_SMALL only supports sharded allocations"));
}

TEST_F(Errors, AnL1SmallBufferNeedsAnL1SmallRegion) {
  EXPECT_TRUE(contains(error_of([&] {
                         Buffer::create(mesh_.get(), 2048, 2048, BufferType::L1_SMALL,
                                        height_sharded(grid(1, 1), 1, 2048));
                       }),
                       "bank size is 0 B"));
}

TEST_F(Errors, AShardGridMustLieOnTheDevice) {
  EXPECT_TRUE(contains(error_of([&] {
                         Buffer::create(mesh_.get(), 2048, 2048, BufferType::L1,
                                        height_sharded(CoreRange({8, 0}, {8, 0}), 1, 2048));
                       }),
                       "shard core (8, 0) has no L1 bank on this device, which has 64 of them"));
}

TEST_F(Errors, CircularBuffersMustLieInTheComputeGrid) {
  Program program;
  add_cb(program, grid(9, 1), 4096);
  auto workload = workload_of(*mesh_, std::move(program));
  EXPECT_TRUE(contains(error_of([&] { run(*mesh_, workload); }),
                       "Circular buffer core range [0-0 - 8-0] in program "));
  EXPECT_TRUE(
      contains(error_of([&] { run(*mesh_, workload); }), "exceeds device compute grid (8x8)"));
}

TEST_F(Errors, AWormholeCoreHas32SlotsAndABlackholeCore64) {
  const auto in_slot = [](std::uint8_t index) {
    return error_of([&] { CircularBufferConfig(2048, {{index, tt::DataFormat::Float16_b}}); });
  };
  EXPECT_EQ(in_slot(31), "(no error)");
  EXPECT_EQ(in_slot(32), "Buffer index (32) exceeds max number of circular buffers per core (32)");
  mesh_.reset();
  use_system("p150");
  EXPECT_EQ(in_slot(63), "(no error)");
  EXPECT_EQ(in_slot(64), "Buffer index (64) exceeds max number of circular buffers per core (64)");
}

TEST_F(Errors, ASlotCanBeUsedOnceOnACore) {
  Program program;
  add_cb(program, grid(2, 2), 4096, 3);
  EXPECT_TRUE(contains(error_of([&] { add_cb(program, grid(1, 1), 4096, 3); }),
                       "another circular buffer already exists"));
  // The failed call took no slot on the other cores.
  add_cb(program, CoreRange({4, 4}, {4, 4}), 4096, 3);
  EXPECT_EQ(program.circular_buffers().size(), 2u);
}

TEST_F(Errors, AGlobalCircularBufferCannotBeLargerThanItsBuffer) {
  const auto buffer = l1_buffer(4096);
  CircularBufferConfig config(4096, {{0, tt::DataFormat::Float16_b}},
                              *buffer->get_reference_buffer());
  EXPECT_THROW(config.set_total_size(8192), std::runtime_error);
  EXPECT_EQ(config.total_size(), 4096u);
}

TEST_F(Errors, AnOpenChipMustBeOpenedAgainWithTheSameSizes) {
  EXPECT_TRUE(contains(error_of([&] { CreateDevice(0, 1, 32768); }), "is open with other sizes"));
  IDevice* shared = CreateDevice(0);
  EXPECT_EQ(shared, mesh_->get_device(0));
  EXPECT_TRUE(CloseDevice(shared));
  EXPECT_TRUE(mesh_->get_device(0)->is_initialized());
}

TEST_F(Errors, BuffersAndProgramsMayOutliveTheirDevice) {
  Listening listening;
  auto buffer = l1_buffer(4096);
  auto plain = Buffer::create(mesh_.get(), 2048, 2048, BufferType::DRAM);
  Program program;
  add_cb(program, grid(8, 8), 4096);
  auto workload = workload_of(*mesh_, std::move(program));
  run(*mesh_, workload);
  mesh_.reset();
  buffer.reset();
  plain.reset();
  EXPECT_TRUE(listening->take_freed().empty());
}

}  // namespace
}  // namespace dryrun_test
