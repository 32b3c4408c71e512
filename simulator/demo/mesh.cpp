// SPDX-License-Identifier: Apache-2.0
#include "simulator/demo/mesh.hpp"

#include <stdlib.h>

#include <string_view>
#include <ttmem_tt_metal.hpp>
#include <utility>

namespace ttmem::demo {
namespace {

using tm::distributed::MeshBuffer;
using tm::distributed::MeshCoordinateRange;
using tm::distributed::MeshDevice;
using tm::distributed::MeshDeviceConfig;
using tm::distributed::ReplicatedBufferConfig;

constexpr std::size_t kL1SmallBytes = 32 * kKiB;  // on each core
constexpr std::uint32_t kCbPageBytes = 1024;      // a 16 x 32 tile of bf16

// Sizes of the kernels that fast dispatch keeps loaded while a device is open: 0.2 MB together.
constexpr std::uint64_t kPrefetchBytes = 72 * kKiB;
constexpr std::uint64_t kDispatchBytes = 68 * kKiB;
constexpr std::uint64_t kCompletionQueueBytes = 64 * kKiB;

std::shared_ptr<MeshDevice> open(const Machine& machine) {
  ::setenv("TTMEM_DRYRUN_SYSTEM", machine.system, 1);
  // With dispatch on Ethernet cores, programs can use all rows of an n300.
  const bool on_ethernet = std::string_view(machine.board) == "n300";
  return MeshDevice::create(
      MeshDeviceConfig(std::nullopt), kL1SmallBytes, machine.trace_region_bytes, 1,
      on_ethernet ? tm::DispatchCoreConfig(tm::DispatchCoreType::ETH) : tm::DispatchCoreConfig());
}

tm::Program make_program(const Mesh& mesh, const std::vector<CbOfOperation>& cbs) {
  tm::Program program = tm::CreateProgram();
  const tm::CoreRange all = mesh.all_cores();
  std::uint8_t index = 0;
  for (const CbOfOperation& cb : cbs) {
    tm::CreateCircularBuffer(program, cb.cores.value_or(all),
                             tm::CircularBufferConfig(static_cast<std::uint32_t>(cb.bytes),
                                                      {{index, tt::DataFormat::Float16_b}})
                                 .set_page_size(index, kCbPageBytes));
    ++index;
  }
  tm::CreateKernel(program, "kernels/reader.cpp", all, tm::ReaderDataMovementConfig{});
  tm::CreateKernel(program, "kernels/compute.cpp", all, tm::ComputeConfig{});
  tm::CreateKernel(program, "kernels/writer.cpp", all, tm::WriterDataMovementConfig{});
  return program;
}

}  // namespace

Mesh::Mesh(const Machine& machine) : device_(open(machine)) {
  tt_metal::attach();
  tt_metal::attach_workers(*device_);
  for (const tm::IDevice* chip : device_->get_devices()) {
    tt_metal::device_opened(
        *chip, {.uid = machine.first_uid + static_cast<std::uint64_t>(chip->id()),
                .board = machine.board,
                .dispatch_kernels = {kPrefetchBytes, kDispatchBytes, kCompletionQueueBytes}});
  }
}

Mesh::~Mesh() {
  const auto chips = device_->get_device_ids();
  device_.reset();
  for (const int chip : chips) tt_metal::device_closed(chip);
}

tm::CoreRange Mesh::all_cores() const {
  const tm::CoreCoord grid = device_->compute_with_storage_grid_size();
  return {{0, 0}, {grid.x - 1, grid.y - 1}};
}

Tensor interleaved(const Mesh& mesh, const std::string& name, tm::BufferType type,
                   std::uint64_t page_bytes, std::uint64_t pages) {
  const tt_metal::Label label(name);
  return MeshBuffer::create(ReplicatedBufferConfig{.size = page_bytes * pages},
                            {.page_size = page_bytes, .buffer_type = type}, mesh.get());
}

Tensor sharded(const Mesh& mesh, const std::string& name, tm::BufferType type,
               std::uint32_t page_bytes, std::uint32_t pages_per_core) {
  const tt_metal::Label label(name);
  const tm::CoreRangeSet cores(mesh.all_cores());
  const std::uint32_t pages = pages_per_core * cores.num_cores();
  const tm::ShardSpecBuffer shards(cores, {pages_per_core, page_bytes},
                                   tm::ShardOrientation::ROW_MAJOR, {1, page_bytes}, {pages, 1});
  return MeshBuffer::create(
      ReplicatedBufferConfig{.size = std::uint64_t{page_bytes} * pages},
      {.page_size = page_bytes,
       .buffer_type = type,
       .sharding_args = tm::BufferShardingArgs(shards, tm::TensorMemoryLayout::HEIGHT_SHARDED)},
      mesh.get());
}

Operation::Operation(const Mesh& mesh, const std::vector<CbOfOperation>& cbs,
                     std::uint64_t kernel_bytes)
    : mesh_(&mesh), kernel_bytes_(kernel_bytes) {
  workload_.add_program(MeshCoordinateRange(mesh->shape()), make_program(mesh, cbs));
}

const tm::Program& Operation::program() const { return workload_.get_programs().begin()->second; }

void Operation::run() {
  const tt_metal::ProgramScope scope(program(), mesh_->get(), mesh_->all_cores(),
                                     tt_metal::KernelBytes{.per_core = kernel_bytes_});
  enqueue();
}

void Operation::enqueue() { EnqueueMeshWorkload((*mesh_)->mesh_command_queue(), workload_, false); }

MeshTrace::MeshTrace(const Mesh& mesh, std::vector<Operation>& operations, std::size_t repetitions)
    : mesh_(&mesh) {
  for (Operation& operation : operations) {
    operation.run();
    programs_.push_back(&operation.program());
  }
  auto& queue = mesh->mesh_command_queue();
  id_ = mesh->begin_mesh_trace(queue);
  for (std::size_t i = 0; i < repetitions; ++i) {
    for (Operation& operation : operations) operation.enqueue();
  }
  const tt_metal::Label label("decode.trace");
  mesh->end_mesh_trace(queue, id_);
}

MeshTrace::~MeshTrace() { (*mesh_)->release_mesh_trace(id_); }

void MeshTrace::replay() const {
  (*mesh_)->replay_mesh_trace((*mesh_)->mesh_command_queue(), id_, false);
  tt_metal::trace_replayed(mesh_->get(), programs_);
}

}  // namespace ttmem::demo
