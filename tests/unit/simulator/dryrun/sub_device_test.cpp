// SPDX-License-Identifier: Apache-2.0
//
// Tests that each sub-device has its own L1. The expected addresses are the addresses that TT-Metal
// gave for the same calls.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/sub_device.hpp>

#include "fixtures.hpp"

namespace dryrun_test {
namespace {

constexpr DeviceAddr kBase = 105664;
constexpr DeviceAddr kLocal = 64000;

SubDevice on(const CoreRangeSet& cores) { return SubDevice(std::array{cores}); }

class SubDevices : public ::testing::Test {
 protected:
  void SetUp() override {
    use_system("n150");
    mesh_ = MeshDevice::create_unit_mesh(0);
  }

  // Loads a manager with two sub-devices. Each sub-device is one half of the grid and has its own
  // L1.
  SubDeviceManagerId load_halves(DeviceAddr local = kLocal) {
    const auto id = mesh_->create_sub_device_manager({on(left_), on(right_)}, local);
    mesh_->load_sub_device_manager(id);
    return id;
  }

  // Returns a sharded buffer that has `bytes` bytes on each of the cores.
  std::shared_ptr<MeshBuffer> sharded(const CoreRangeSet& cores, std::uint32_t bytes,
                                      std::optional<std::uint8_t> sub_device = std::nullopt) {
    distributed::DeviceLocalBufferConfig config{.page_size = bytes,
                                                .buffer_type = BufferType::L1,
                                                .sharding_args = height_sharded(cores, 1, bytes)};
    if (sub_device) config.sub_device_id = SubDeviceId{*sub_device};
    return MeshBuffer::create(
        distributed::ReplicatedBufferConfig{.size = DeviceAddr{bytes} * cores.num_cores()}, config,
        mesh_.get());
  }

  MeshWorkload program_on(const CoreRangeSet& cores, std::uint32_t cb_bytes) {
    Program program;
    CreateKernelFromString(program, "void kernel_main() {}", cores, DataMovementConfig{});
    add_cb(program, cores, cb_bytes);
    return workload_of(*mesh_, std::move(program));
  }

  const CoreRangeSet left_{CoreRange({0, 0}, {3, 7})};
  const CoreRangeSet right_{CoreRange({4, 0}, {7, 7})};
  std::shared_ptr<MeshDevice> mesh_;
};

TEST_F(SubDevices, AtFirstOneSubDeviceHasAllCores) {
  EXPECT_EQ(mesh_->get_active_sub_device_manager_id(), mesh_->get_default_sub_device_manager_id());
  EXPECT_EQ(mesh_->get_sub_device_ids(), std::vector{SubDeviceId{0}});
  EXPECT_EQ(mesh_->worker_cores(HalProgrammableCoreType::TENSIX, SubDeviceId{0}),
            CoreRangeSet(grid(8, 8)));
  EXPECT_EQ(mesh_->allocator(SubDeviceId{0}), mesh_->allocator());
}

TEST_F(SubDevices, OfTheLoadedManagerAreUsed) {
  const auto id = mesh_->create_sub_device_manager({on(left_), on(right_)}, kLocal);
  EXPECT_EQ(mesh_->num_sub_devices(), 1u);
  mesh_->load_sub_device_manager(id);
  EXPECT_EQ(mesh_->get_active_sub_device_manager_id(), id);
  EXPECT_EQ(mesh_->num_sub_devices(), 2u);
  EXPECT_EQ(mesh_->num_worker_cores(HalProgrammableCoreType::TENSIX, SubDeviceId{1}), 32u);
  EXPECT_EQ(mesh_->get_sub_device_stall_group().size(), 2u);
  const std::array only_second{SubDeviceId{1}};
  mesh_->set_sub_device_stall_group(only_second);
  EXPECT_EQ(mesh_->get_sub_device_stall_group(), std::vector{SubDeviceId{1}});
  mesh_->clear_loaded_sub_device_manager();
  EXPECT_EQ(mesh_->num_sub_devices(), 1u);
  mesh_->remove_sub_device_manager(id);
  EXPECT_NE(error_of([&] { mesh_->load_sub_device_manager(id); }).find("does not exist"),
            std::string::npos);
}

TEST_F(SubDevices, HaveTheirOwnAllocatorsBelowTheMeshsL1) {
  load_halves();
  EXPECT_EQ(mesh_->allocator()->get_bank_size(BufferType::L1), 1393472u - kLocal);
  EXPECT_EQ(mesh_->allocator(SubDeviceId{0})->get_bank_size(BufferType::L1), kLocal);
  EXPECT_EQ(mesh_->allocator(SubDeviceId{0})->get_num_banks(BufferType::L1), 32u);
  const auto first = sharded(left_, 4096, 0);
  const auto second = sharded(CoreRangeSet(CoreRange({4, 0}, {5, 0})), 100, 1);
  EXPECT_EQ(first->address(), kBase + kLocal - 4096);
  EXPECT_EQ(second->address(), kBase + kLocal - 128);
  EXPECT_EQ(second->get_backing_buffer()->allocator(), mesh_->allocator(SubDeviceId{1}).get());
  EXPECT_EQ(sharded(left_, 4096)->address(), 1499136u - 4096);
  EXPECT_EQ(mesh_->lowest_occupied_compute_l1_address(), kBase + kLocal - 4096);
  const std::array only_second{SubDeviceId{1}};
  EXPECT_EQ(mesh_->lowest_occupied_compute_l1_address(only_second), kBase + kLocal - 128);
  EXPECT_EQ(mesh_->allocator()->get_allocated_buffers().size(), 0u) << "the third one is gone";
  const std::string error = error_of([&] { sharded(left_, 60000, 0); });
  EXPECT_NE(
      error.find("each bank needs to store 60000 B, but bank size is 64000 B (allocated: 4096 "
                 "B, free: 59904 B, largest free block: 59904 B)"),
      std::string::npos)
      << error;
}

TEST_F(SubDevices, ReturnTheirL1WhenAnotherManagerIsLoaded) {
  load_halves();
  mesh_->load_sub_device_manager(mesh_->create_sub_device_manager({on(left_)}, 1000));
  EXPECT_EQ(mesh_->allocator()->get_bank_size(BufferType::L1), 1393472u - 1008) << "aligned as L1";
  mesh_->clear_loaded_sub_device_manager();
  EXPECT_EQ(mesh_->allocator()->get_bank_size(BufferType::L1), 1393472u);
  const auto all = Buffer::create(mesh_.get(), 64 * 1393472, 1393472, BufferType::L1);
  EXPECT_EQ(all->address(), kBase);
}

TEST_F(SubDevices, CannotBeSwitchedWhileTheyHoldBuffers) {
  load_halves();
  auto buffer = sharded(left_, 4096, 0);
  const auto switch_back = [&] { mesh_->clear_loaded_sub_device_manager(); };
  EXPECT_NE(error_of(switch_back).find("while sub devices still have local allocations"),
            std::string::npos);
  EXPECT_EQ(mesh_->num_sub_devices(), 2u);
  buffer.reset();
  EXPECT_EQ(error_of(switch_back), "(no error)");
}

TEST_F(SubDevices, CannotHaveL1WhereTheMeshHasBuffers) {
  const auto low = Buffer::create(mesh_.get(), 64 * 4096, 4096, BufferType::L1, {}, true);
  ASSERT_EQ(low->address(), kBase);
  const auto id = mesh_->create_sub_device_manager({on(left_)}, kLocal);
  EXPECT_NE(error_of([&] {
              mesh_->load_sub_device_manager(id);
            }).find("Shrink size 64000 cuts into allocated block at address 0"),
            std::string::npos);
  EXPECT_EQ(mesh_->num_sub_devices(), 1u);
  EXPECT_EQ(mesh_->allocator()->get_bank_size(BufferType::L1), 1393472u);
}

TEST_F(SubDevices, TakeShardedL1BuffersOnTheirCoresOnly) {
  load_halves();
  EXPECT_NE(error_of([&] { sharded(right_, 4096, 0); })
                .find("Shard cores specified {[4-0 - 7-7]} do not match sub-device cores "
                      "{[0-0 - 3-7]}"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              CreateBuffer(InterleavedBufferConfig{mesh_.get(), 2048, 2048, BufferType::L1},
                           SubDeviceId{0});
            }).find("requires buffer to be sharded"),
            std::string::npos);
  EXPECT_NE(error_of([&] { sharded(left_, 4096, 2); }).find("SubDevice index 2 out of bounds 2"),
            std::string::npos);
}

TEST_F(SubDevices, WithoutTheirOwnL1HaveNoAllocator) {
  load_halves(0);
  EXPECT_EQ(mesh_->allocator()->get_bank_size(BufferType::L1), 1393472u);
  EXPECT_NE(error_of([&] { sharded(left_, 4096, 0); }).find("SubDevice allocator not initialized"),
            std::string::npos);
}

TEST_F(SubDevices, AreAtMostEightThatDoNotOverlapAndLieOnTheGrid) {
  const auto create = [&](const std::vector<SubDevice>& sub_devices) {
    return error_of([&] { mesh_->create_sub_device_manager(sub_devices, 0); });
  };
  EXPECT_NE(create({on(left_), on(CoreRangeSet(grid(1, 1)))}).find("intersect"), std::string::npos);
  EXPECT_NE(create({on(CoreRangeSet(grid(9, 1)))})
                .find("Tensix cores {[0-0 - 8-0]} specified in sub device must be within device "
                      "grid [0-0 - 7-7]"),
            std::string::npos);
  std::vector<SubDevice> many;
  for (std::size_t i = 0; i < 9; ++i) {
    many.push_back(on(CoreRangeSet(CoreRange({i % 8, i / 8}, {i % 8, i / 8}))));
  }
  EXPECT_NE(create(many).find("Number of sub-devices specified 9 is larger than the max number of "
                              "sub-devices 8"),
            std::string::npos);
  many.pop_back();
  EXPECT_EQ(create(many), "(no error)");
}

TEST_F(SubDevices, CircularBuffersClashWithBuffersOfTheirOwnSubDevice) {
  load_halves();
  const auto buffer = sharded(left_, 32000, 0);
  ASSERT_EQ(buffer->address(), kBase + 32000);
  auto on_the_right = program_on(right_, 40000);
  EXPECT_EQ(error_of([&] { run(*mesh_, on_the_right); }), "(no error)");
  auto on_the_left = program_on(left_, 40000);
  const std::string error = error_of([&] { run(*mesh_, on_the_left); });
  EXPECT_NE(error.find("clash with L1 buffers on core range [0-0 - 3-7]. L1 buffer allocated at "
                       "137664 and static circular buffer region ends at 145664"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("32000 B per bank at 137664"), std::string::npos) << error;
}

TEST_F(SubDevices, RunOnlyProgramsWithinOneSubDevice) {
  load_halves();
  auto across = program_on(CoreRangeSet(grid(8, 8)), 4096);
  EXPECT_NE(error_of([&] { run(*mesh_, across); }).find("must be executed on a single sub-device"),
            std::string::npos);
  mesh_->load_sub_device_manager(mesh_->create_sub_device_manager({on(left_)}, 0));
  auto outside = program_on(right_, 4096);
  EXPECT_NE(error_of([&] { run(*mesh_, outside); }).find("do not match sub device cores"),
            std::string::npos);
}

TEST_F(SubDevices, AreAvailableOnlyOnMeshes) {
  IDevice* chip = mesh_->get_device(0);
  EXPECT_NE(error_of([&] {
              chip->create_sub_device_manager({on(left_)}, 0);
            }).find("deprecated for device"),
            std::string::npos);
}

TEST_F(SubDevices, BuffersOfSubDevicesMayOutliveTheMesh) {
  load_halves();
  auto buffer = sharded(left_, 4096, 0);
  Listening listening;
  mesh_.reset();
  buffer.reset();
  EXPECT_TRUE(listening->take_freed().empty());
}

}  // namespace
}  // namespace dryrun_test
