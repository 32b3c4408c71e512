// SPDX-License-Identifier: Apache-2.0
//
// Tests the life of circular buffers as seeds 000 and 002 describe it (docs/internals/seeds.md).
// The addresses are computed once, reported once on every chip, and removed with the program.
#include <gtest/gtest.h>

#include <set>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/program_cache.hpp>
#include <tt-metalium/tt_metal.hpp>

#include "fixtures.hpp"

namespace dryrun_test {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

TEST(Lifecycle, EveryChipOfAMeshHoldsTheSameCbBytes) {
  use_system("t3000");
  const auto mesh = MeshDevice::create(MeshDeviceConfig(MeshShape(2, 4)));
  Listening listening;
  {
    Program program;
    add_cb(program, grid(8, 7), 65536);
    auto workload = workload_of(*mesh, std::move(program));
    run(*mesh, workload);
    std::set<const IDevice*> reported;
    for (const CbEvent& cb : listening->take_cbs()) reported.insert(cb.device);
    EXPECT_EQ(reported.size(), 8u);
    for (const IDevice* device : mesh->get_devices()) EXPECT_EQ(cb_bytes(device), 56u * 65536);
  }
  EXPECT_EQ(listening->take_cb_frees().size(), 8u);
  for (const IDevice* device : mesh->get_devices()) EXPECT_EQ(cb_bytes(device), 0u);
}

TEST(Lifecycle, ThirtyCachedProgramsAt10MiBAre10MiBPhysical) {
  use_system("n150");
  const auto mesh = MeshDevice::create_unit_mesh(0);
  Listening listening;
  std::uint64_t logical = 0;
  auto& cache = mesh->get_program_cache();
  for (std::uint64_t variant = 0; variant < 30; ++variant) {
    Program program;
    add_cb(program, grid(8, 8), 10 * kMiB / 64);
    auto workload = workload_of(*mesh, std::move(program));
    run(*mesh, workload);
    cache.insert({variant, "variant"},
                 {program_cache::detail::CachedMeshWorkload<int>(std::move(workload), 0), 0});
    for (const CbEvent& cb : listening->take_cbs()) logical += cb.size * cb.cores.num_cores();
  }
  EXPECT_EQ(mesh->num_program_cache_entries(), 30u);
  EXPECT_EQ(logical, 300 * kMiB);
  EXPECT_EQ(cb_bytes(mesh->get_device(0)), 10 * kMiB);

  mesh->clear_program_cache();
  EXPECT_EQ(listening->take_cb_frees().size(), 30u);
  EXPECT_EQ(cb_bytes(mesh->get_device(0)), 0u);
}

TEST(Lifecycle, ACachedProgramIsFoundAgainWithItsVariables) {
  use_system("n150");
  IDevice* device = CreateDevice(0);
  Program program;
  const CBHandle handle = add_cb(program, grid(8, 8), 4096);
  detail::CompileProgram(device, program);
  using Cached = program_cache::detail::CachedProgram<CBHandle>;
  device->get_program_cache().insert({7, "op"}, {Cached(std::move(program), CBHandle{handle}), 2});
  auto& found = device->get_program_cache().get({7, "op"});
  EXPECT_EQ(found.program_factory_index, 2u);
  EXPECT_EQ(found.cached_program.get<Cached>().shared_variables, handle);
  EXPECT_FALSE(device->get_program_cache().contains({7, "another op"}));
  EXPECT_EQ(cb_bytes(device), 64u * 4096);
  CloseDevice(device);
  EXPECT_EQ(device->num_program_cache_entries(), 0u);
}

TEST(Lifecycle, RunningAgainSaysNothing) {
  use_system("n150");
  const auto mesh = MeshDevice::create_unit_mesh(0);
  Listening listening;
  Program program;
  add_cb(program, grid(8, 8), 4096);
  auto workload = workload_of(*mesh, std::move(program));
  run(*mesh, workload);
  EXPECT_EQ(listening->take_cbs().size(), 1u);
  run(*mesh, workload);
  EXPECT_TRUE(listening->take_cbs().empty());
  EXPECT_EQ(cb_bytes(mesh->get_device(0)), 64u * 4096);
}

TEST(Lifecycle, ANinthDeviceThatComesLaterIsReportedOnceAndTheOthersNotAgain) {
  use_system("galaxy");
  const auto mesh = MeshDevice::create(MeshDeviceConfig(MeshShape(2, 4)));
  std::set<int> taken;
  for (const int id : mesh->get_device_ids()) taken.insert(id);
  int ninth_id = 0;
  while (taken.contains(ninth_id)) ++ninth_id;
  IDevice* ninth = CreateDevice(ninth_id);
  Listening listening;

  Program program;
  add_cb(program, grid(8, 9), 4096, 0);
  add_cb(program, grid(8, 9), 8192, 1);
  detail::CompileProgram(mesh.get(), program);
  const auto first = listening->take_cbs();
  EXPECT_EQ(first.size(), 16u);
  detail::CompileProgram(ninth, program);
  const auto later = listening->take_cbs();
  ASSERT_EQ(later.size(), 2u);
  EXPECT_EQ(later[0].device, ninth);
  EXPECT_EQ(later[0].address, first[0].address);
  EXPECT_EQ(later[1].address, first[8].address);
  EXPECT_EQ(cb_bytes(ninth), 72u * 12288);
  detail::CompileProgram(ninth, program);
  EXPECT_TRUE(listening->take_cbs().empty());

  program = Program();
  EXPECT_EQ(listening->take_cb_frees().size(), 9u);
  EXPECT_EQ(cb_bytes(ninth), 0u);
  CloseDevice(ninth);
}

TEST(Lifecycle, AGloballyAllocatedCbCountsAsTheBufferItIs) {
  use_system("n150");
  const auto mesh = MeshDevice::create_unit_mesh(0);
  Listening listening;
  const auto buffer = MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = 131072},
                                         {.page_size = 2048,
                                          .buffer_type = BufferType::L1,
                                          .sharding_args = height_sharded(grid(4, 4), 4, 2048)},
                                         mesh.get());
  Program program;
  add_cb(program, grid(8, 8), 4096, 0);
  add_global_cb(program, grid(4, 4), 8192, *buffer->get_reference_buffer(), 1);
  auto workload = workload_of(*mesh, std::move(program));
  run(*mesh, workload);
  const auto cbs = listening->take_cbs();
  ASSERT_EQ(cbs.size(), 2u);
  EXPECT_TRUE(cbs[1].globally_allocated);
  EXPECT_EQ(cbs[1].address, buffer->address());
  EXPECT_EQ(cb_bytes(mesh->get_device(0)), 64u * 4096);
}

TEST(Lifecycle, AResizedCbReportsAllCbsAgainWithoutAFree) {
  use_system("n150");
  const auto mesh = MeshDevice::create_unit_mesh(0);
  Listening listening;
  Program program;
  const CBHandle first = add_cb(program, grid(8, 8), 4096, 0);
  add_cb(program, grid(8, 8), 8192, 1);
  auto workload = workload_of(*mesh, std::move(program));
  run(*mesh, workload);
  listening->take_cbs();

  UpdateCircularBufferTotalSize(workload.get_programs().begin()->second, first, 16384);
  EXPECT_EQ(cb_bytes(mesh->get_device(0)), 64u * 12288) << "until it runs, the old layout counts";
  run(*mesh, workload);
  const auto cbs = listening->take_cbs();
  ASSERT_EQ(cbs.size(), 2u);
  EXPECT_EQ(cbs[1].address, 105664u + 16384);
  EXPECT_TRUE(listening->take_cb_frees().empty());
  EXPECT_EQ(cb_bytes(mesh->get_device(0)), 64u * 24576);
  const auto& device = dynamic_cast<const Device&>(*mesh->get_device(0));
  EXPECT_EQ(device.num_registered_programs(), 1u);
}

std::shared_ptr<MeshBuffer> page_on_every_core(MeshDevice& mesh) {
  return MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = 64 * 4096},
                            {.page_size = 4096, .buffer_type = BufferType::L1}, &mesh);
}

TEST(Lifecycle, MovingAGlobalCbReportsNothing) {
  use_system("n150");
  const auto mesh = MeshDevice::create_unit_mesh(0);
  const auto first = page_on_every_core(*mesh);
  const auto second = page_on_every_core(*mesh);
  Listening listening;
  Program program;
  add_cb(program, grid(8, 8), 4096, 0);
  const CBHandle handle =
      add_global_cb(program, grid(8, 8), 4096, *first->get_reference_buffer(), 1);
  auto workload = workload_of(*mesh, std::move(program));
  run(*mesh, workload);
  listening->take_cbs();
  UpdateDynamicCircularBufferAddress(workload.get_programs().begin()->second, handle,
                                     *second->get_reference_buffer());
  run(*mesh, workload);
  EXPECT_TRUE(listening->take_cbs().empty());
}

// Both chips share one layout of the program. When the layout changes for one chip, the other chip
// already has the program. The dry run therefore reports nothing for the other chip.
TEST(Lifecycle, ACbResizedOnOneChipIsNotReportedOnTheOther) {
  use_system("n300");
  const auto mesh = MeshDevice::create(MeshDeviceConfig(MeshShape(2, 1)));
  Listening listening;
  Program program;
  const CBHandle handle = add_cb(program, grid(8, 7), 4096);
  detail::CompileProgram(mesh.get(), program);
  EXPECT_EQ(listening->take_cbs().size(), 2u);
  UpdateCircularBufferTotalSize(program, handle, 8192);
  detail::CompileProgram(mesh->get_device(0), program);
  EXPECT_EQ(listening->take_cbs().size(), 1u);
  EXPECT_EQ(cb_bytes(mesh->get_device(1)), 56u * 8192);
  detail::CompileProgram(mesh.get(), program);
  EXPECT_TRUE(listening->take_cbs().empty());
  UpdateCircularBufferTotalSize(program, handle, 4096);
  detail::CompileProgram(mesh.get(), program);
  EXPECT_EQ(listening->take_cbs().size(), 2u);
  EXPECT_EQ(cb_bytes(mesh->get_device(1)), 56u * 4096);
}

// The dry run reports a circular buffer before it finds the clash. It does not report the later
// move of the circular buffer.
TEST(Lifecycle, AGlobalCbThatMovesAfterAClashStaysReportedWhereItWas) {
  use_system("n150");
  const auto mesh = MeshDevice::create_unit_mesh(0);
  const auto make = [&](DeviceAddr bytes) {
    return MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = 64 * bytes},
                              {.page_size = bytes, .buffer_type = BufferType::L1}, mesh.get());
  };
  const auto first = make(4096);
  const auto second = make(4096);
  auto large = make(1300000);
  Listening listening;
  Program program;
  add_cb(program, grid(8, 8), 200000, 0);
  const CBHandle handle =
      add_global_cb(program, grid(8, 8), 4096, *first->get_reference_buffer(), 1);
  EXPECT_THROW(detail::CompileProgram(mesh.get(), program), std::runtime_error);
  UpdateDynamicCircularBufferAddress(program, handle, *second->get_reference_buffer());
  large.reset();
  detail::CompileProgram(mesh.get(), program);
  const auto cbs = listening->take_cbs();
  ASSERT_EQ(cbs.size(), 2u);
  EXPECT_EQ(cbs[1].address, first->address());
}

TEST(Lifecycle, OverlappingCoreRangesAreNotCountedTwice) {
  use_system("n150");
  IDevice* device = CreateDevice(0);
  {
    Program program;
    add_cb(program, grid(8, 8), 4096, 0);
    add_cb(program, grid(4, 4), 8192, 1);
    add_cb(program, CoreRange({2, 2}, {5, 5}), 16384, 2);
    detail::CompileProgram(device, program);
    EXPECT_EQ(cb_bytes(device), 64u * 4096 + 16 * 8192 + 16 * 16384);
  }
  CloseDevice(device);
}

TEST(Lifecycle, ClosingADeviceEmptiesItAndOpeningItAgainFindsItEmpty) {
  use_system("n150");
  IDevice* device = CreateDevice(0);
  const auto buffer = CreateBuffer(InterleavedBufferConfig{device, 2048, 2048, BufferType::DRAM});
  Program program;
  add_cb(program, grid(8, 8), 4096);
  detail::CompileProgram(device, program);
  CloseDevice(device);
  EXPECT_FALSE(CloseDevice(device));
  ASSERT_EQ(CreateDevice(0), device);
  EXPECT_EQ(cb_bytes(device), 0u);
  EXPECT_TRUE(device->allocator()->get_allocated_buffers().empty());
  CloseDevice(device);
}

TEST(Lifecycle, BuffersAreReportedOnceWithTheMesh) {
  use_system("t3000");
  const auto mesh = MeshDevice::create(MeshDeviceConfig(MeshShape(2, 4)));
  Listening listening;
  auto buffer = MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = 8192},
                                   {.page_size = 2048}, mesh.get());
  const auto id = buffer->get_backing_buffer()->unique_id();
  EXPECT_EQ(buffer->get_backing_buffer()->device(), mesh.get());
  EXPECT_EQ(listening->take_allocated(), std::vector<std::size_t>{id});
  buffer->deallocate();
  buffer.reset();
  EXPECT_EQ(listening->take_freed(), std::vector<std::size_t>{id});
}

}  // namespace
}  // namespace dryrun_test
