// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/system_mesh.hpp>

#include "fixtures.hpp"
#include "mapped_devices.hpp"
#include "system.hpp"

namespace dryrun_test {
namespace {

struct Opened {
  const char* system;
  MeshShape shape;
  DeviceIds chips;
};

// The results of TT-Metal's MeshDevice::create. Each call opened all devices of one of TT-Metal's
// mock machines.
const std::vector<Opened>& opened_by_the_runtime() {
  static const std::vector<Opened> all{
      {"n150", MeshShape(1, 1), {0}},
      {"n300", MeshShape(2, 1), {0, 1}},
      {"n300_2x2", MeshShape(2, 2), {0, 1, 3, 2}},
      {"t3000", MeshShape(2, 4), {4, 0, 2, 6, 5, 1, 3, 7}},
      {"galaxy", MeshShape(8, 4), {0,  16, 18, 2,  4, 20, 22, 6,  8, 24, 26, 10, 12, 28, 30, 14,
                                   13, 29, 31, 15, 9, 25, 27, 11, 5, 21, 23, 7,  1,  17, 19, 3}},
      {"p100", MeshShape(1, 1), {0}},
      {"p150", MeshShape(1, 1), {0}},
      {"p300", MeshShape(2, 1), {0, 1}},
      {"p150_x4", MeshShape(2, 2), {2, 1, 0, 3}},
      {"p150_x8", MeshShape(2, 4), {0, 2, 3, 1, 4, 6, 7, 5}},
      {"bh_galaxy", MeshShape(8, 4), {0,  4,  12, 8,  1,  5,  13, 9,  2,  6,  14,
                                      10, 3,  7,  15, 11, 27, 31, 23, 19, 26, 30,
                                      22, 18, 25, 29, 21, 17, 24, 28, 20, 16}}};
  return all;
}

TEST(Mesh, EverySystemHasTheRuntimesShapeAndChipOrder) {
  std::set<std::string_view> compared;
  for (const Opened& expected : opened_by_the_runtime()) {
    use_system(expected.system);
    const auto mesh = MeshDevice::create(MeshDeviceConfig(std::nullopt));
    EXPECT_EQ(mesh->shape(), expected.shape) << expected.system;
    EXPECT_EQ(mesh->get_device_ids(), expected.chips) << expected.system;
    compared.insert(expected.system);
  }
  const auto names = dryrun::system_names();
  EXPECT_EQ(compared, std::set<std::string_view>(names.begin(), names.end()));
}

TEST(Mesh, ASubmeshHasTheChipsAtItsPosition) {
  use_system("t3000");
  const auto mesh = MeshDevice::create(MeshDeviceConfig(MeshShape(2, 4)));
  EXPECT_EQ(mesh->create_submesh(MeshShape(2, 2), MeshCoordinate(0, 2))->get_device_ids(),
            (std::vector<int>{2, 6, 3, 7}));
}

TEST(Mesh, EveryChipOfAMachineIsInItsMeshOnce) {
  for (const std::string_view name : dryrun::system_names()) {
    use_system(std::string(name));
    const auto mesh = MeshDevice::create(MeshDeviceConfig(std::nullopt));
    DeviceIds ids = mesh->get_device_ids();
    std::sort(ids.begin(), ids.end());
    for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i], static_cast<int>(i)) << name;
    EXPECT_EQ(ids.size(), GetNumAvailableDevices()) << name;
  }
}

TEST(Mesh, ALineFollowsTheEdgeOfAT3000) {
  use_system("t3000");
  const auto mesh = MeshDevice::create(MeshDeviceConfig(MeshShape(1, 8)));
  EXPECT_EQ(mesh->get_device_ids(), (std::vector<int>{4, 0, 2, 6, 7, 3, 1, 5}));
}

TEST(Mesh, ALineOfAnyLengthRunsThroughNeighboursOfAGalaxy) {
  use_system("galaxy");
  const auto whole = distributed::mapped_devices(MeshShape(8, 4));
  const auto place = [&](int chip) {
    return static_cast<int>(std::find(whole.begin(), whole.end(), chip) - whole.begin());
  };
  for (std::uint32_t length = 1; length <= 32; ++length) {
    const auto chips = distributed::mapped_devices(MeshShape(1, length));
    EXPECT_EQ(std::set<int>(chips.begin(), chips.end()).size(), length);
    for (std::size_t i = 1; i < chips.size(); ++i) {
      const int rows = std::abs(place(chips[i]) / 4 - place(chips[i - 1]) / 4);
      const int columns = std::abs(place(chips[i]) % 4 - place(chips[i - 1]) % 4);
      EXPECT_EQ(rows + columns, 1) << "length " << length << " at " << i;
    }
  }
}

TEST(Mesh, WithoutAShapeAMeshIsTheWholeMachine) {
  use_system("t3000");
  EXPECT_EQ(distributed::SystemMesh::instance().shape(), MeshShape(2, 4));
  const auto mesh = MeshDevice::create(MeshDeviceConfig(std::nullopt));
  EXPECT_EQ(mesh->shape(), MeshShape(2, 4));
  EXPECT_EQ(mesh->num_devices(), 8u);
}

TEST(Mesh, AShapeIsRotatedWhenItOnlyFitsRotated) {
  use_system("t3000");
  const auto mesh = MeshDevice::create(MeshDeviceConfig(MeshShape(4, 2)));
  EXPECT_EQ(mesh->get_device_ids(), (std::vector<int>{4, 5, 0, 1, 2, 3, 6, 7}));
  EXPECT_THROW(distributed::mapped_devices(MeshShape(3, 3)), std::runtime_error);
}

TEST(Mesh, AFailedOpenLeavesNoChipOpen) {
  use_system("t3000");
  EXPECT_THROW(MeshDevice::create(MeshDeviceConfig(MeshShape(1, 2), std::nullopt, {0, 99})),
               std::runtime_error);
  IDevice* device = CreateDevice(0, 1, 32768);
  EXPECT_EQ(device->allocator()->get_bank_size(BufferType::L1_SMALL), 32768u);
  CloseDevice(device);
}

TEST(Mesh, ASubmeshAllocatesOnItsOwn) {
  use_system("t3000");
  const auto mesh = MeshDevice::create(MeshDeviceConfig(MeshShape(2, 4)));
  const auto submesh = mesh->create_submesh(MeshShape(1, 2));
  const auto on = [](const std::shared_ptr<MeshDevice>& device) {
    return MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = 2048},
                              {.page_size = 2048}, device.get());
  };
  const auto parents = on(mesh);
  const auto childs = on(submesh);
  EXPECT_EQ(parents->address(), childs->address());
  EXPECT_NE(parents->get_backing_buffer()->unique_id(), childs->get_backing_buffer()->unique_id());
}

TEST(Mesh, ChipsStayOpenUntilTheirLastMeshIsGone) {
  use_system("t3000");
  auto mesh = MeshDevice::create(MeshDeviceConfig(MeshShape(2, 4)));
  auto submesh = mesh->create_submesh(MeshShape(1, 1));
  const IDevice* chip = submesh->get_devices().front();
  mesh->close();
  EXPECT_TRUE(chip->is_initialized());
  submesh.reset();
  mesh.reset();
  EXPECT_FALSE(chip->is_initialized());
}

TEST(Mesh, UnitMeshesAreIndependent) {
  use_system("t3000");
  const auto meshes = MeshDevice::create_unit_meshes({0, 3});
  ASSERT_EQ(meshes.size(), 2u);
  EXPECT_EQ(meshes.at(3)->get_device_ids(), std::vector<int>{3});
  EXPECT_NE(meshes.at(0)->id(), meshes.at(3)->id());
}

TEST(MeshBuffers, OfAShardedTensorHaveTheirShardOnEveryChip) {
  use_system("t3000");
  const auto mesh = MeshDevice::create(MeshDeviceConfig(MeshShape(2, 4)));
  const distributed::ShardedBufferConfig sharded{.global_size = 2 * 1024 * 1024,
                                                 .global_buffer_shape = {1024, 1024},
                                                 .shard_shape = {512, 256}};
  const auto buffer = MeshBuffer::create(sharded, {.page_size = 2048}, mesh.get());
  EXPECT_EQ(buffer->size(), 2u * 1024 * 1024);
  EXPECT_EQ(buffer->device_local_size(), 262144u);
  EXPECT_EQ(buffer->get_backing_buffer()->size(), 262144u);
  EXPECT_EQ(buffer->get_device_buffer(MeshCoordinate(1, 3))->address(), buffer->address());
}

TEST(MeshBuffers, WithMoreShardsThanChipsAreRejected) {
  use_system("t3000");
  const auto mesh = MeshDevice::create(MeshDeviceConfig(MeshShape(2, 4)));
  const distributed::ShardedBufferConfig sharded{.global_size = 2 * 1024 * 1024,
                                                 .global_buffer_shape = {1024, 1024},
                                                 .shard_shape = {256, 256}};
  EXPECT_THROW(MeshBuffer::create(sharded, {.page_size = 2048}, mesh.get()), std::runtime_error);
}

class Traces : public ::testing::Test {
 protected:
  // Records a trace in which one program runs once.
  distributed::MeshTraceId record(MeshDevice& mesh) {
    Program program;
    add_cb(program, grid(8, 8), 4096);
    workload_ = workload_of(mesh, std::move(program));
    run(mesh, workload_);
    const auto id = distributed::BeginTraceCapture(&mesh, 0);
    run(mesh, workload_);
    mesh.end_mesh_trace(0, id);
    return id;
  }

  MeshWorkload workload_;
};

TEST_F(Traces, TakeTheTraceRegionUntilTheyAreReleased) {
  use_system("n150");
  const auto mesh = MeshDevice::create_unit_mesh(0, 0, 4194304);
  const auto used = [&] {
    return mesh->allocator()->get_statistics(BufferType::TRACE).total_allocated_bytes;
  };
  const auto id = record(*mesh);
  EXPECT_GT(used(), 0u);
  mesh->replay_mesh_trace(0, id, true);
  mesh->release_mesh_trace(id);
  EXPECT_EQ(used(), 0u);
  EXPECT_EQ(mesh->get_trace_buffers_size(), 0u);
  EXPECT_THROW(mesh->replay_mesh_trace(0, id, true), std::runtime_error);
}

TEST_F(Traces, WithoutATraceRegionLieAtTheTopOfDram) {
  use_system("n150");
  const auto mesh = MeshDevice::create_unit_mesh(0);
  Listening listening;
  const auto id = record(*mesh);
  const auto buffers = mesh->allocator()->get_allocated_buffers();
  ASSERT_EQ(buffers.size(), 1u);
  const Buffer& trace = **buffers.begin();
  EXPECT_EQ(trace.buffer_type(), BufferType::DRAM);
  EXPECT_EQ(trace.address() + trace.aligned_size_per_bank(), 1073741824u);
  mesh->release_mesh_trace(id);
}

TEST_F(Traces, ThatDoNotFitIntoTheRegionAreAnError) {
  use_system("n150");
  const auto mesh = MeshDevice::create_unit_mesh(0, 0, 1024);
  EXPECT_THROW(record(*mesh), std::runtime_error);
  EXPECT_EQ(mesh->get_trace_buffers_size(), 0u);
}

}  // namespace
}  // namespace dryrun_test
