// SPDX-License-Identifier: Apache-2.0
//
// Host code with special L1 objects: buffers of sub-devices, a semaphore, a global circular buffer
// that a program uses, and views, which take no memory of their own. After each step it prints
// "STEP BYTES" and waits for a byte. BYTES is the L1 that buffers take on each chip, according to
// the allocators. Attaches the processor if its header is in the include path.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/global_circular_buffer.hpp>
#include <tt-metalium/global_semaphore.hpp>
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/sub_device.hpp>
#include <utility>

#if __has_include(<ttmem_tt_metal.hpp>)
#include <ttmem_tt_metal.hpp>
#else
namespace ttmem::tt_metal {
inline void attach() {}
inline void flush() {}
}  // namespace ttmem::tt_metal
#endif

namespace {

using namespace tt::tt_metal;
using distributed::MeshBuffer;
using distributed::MeshDevice;

std::size_t taken(const Allocator& allocator) {
  return allocator.get_statistics(BufferType::L1).total_allocated_bytes *
         allocator.get_num_banks(BufferType::L1);
}

void say(const char* step, const MeshDevice& mesh) {
  std::size_t bytes = taken(*mesh.allocator());
  if (mesh.get_active_sub_device_manager_id() != mesh.get_default_sub_device_manager_id()) {
    for (const SubDeviceId id : mesh.get_sub_device_ids()) bytes += taken(*mesh.allocator(id));
  }
  ttmem::tt_metal::flush();
  std::printf("%s %zu\n", step, bytes);
  std::fflush(stdout);
  if (std::getchar() == EOF) std::exit(1);
}

// Allocates 4 KiB on each core of the set.
std::shared_ptr<MeshBuffer> sharded(MeshDevice& mesh, const CoreRangeSet& cores,
                                    std::optional<SubDeviceId> sub_device) {
  const ShardSpecBuffer spec(cores, {2, 2048}, ShardOrientation::ROW_MAJOR, {1, 2048},
                             {2 * cores.num_cores(), 1});
  return MeshBuffer::create(
      distributed::ReplicatedBufferConfig{.size = 4096 * DeviceAddr{cores.num_cores()}},
      {.page_size = 2048,
       .buffer_type = BufferType::L1,
       .sharding_args = {spec, TensorMemoryLayout::HEIGHT_SHARDED},
       .bottom_up = {},
       .sub_device_id = sub_device},
      &mesh);
}

CoreRangeSet columns(std::size_t first, std::size_t last) {
  return CoreRangeSet(CoreRange({first, 0}, {last, 3}));
}

distributed::MeshWorkload program_in(const experimental::GlobalCircularBuffer& global,
                                     const MeshDevice& mesh) {
  Program program;
  CircularBufferConfig config(global.size());
  config.remote_index(31).set_page_size(16).set_data_format(tt::DataFormat::Float16_b);
  experimental::CreateCircularBuffer(program, global.all_cores(), config, global);
  CreateCircularBuffer(
      program, global.all_cores(),
      CircularBufferConfig(2048, {{0, tt::DataFormat::Float16_b}}).set_page_size(0, 2048));
  distributed::MeshWorkload workload;
  workload.add_program(distributed::MeshCoordinateRange(mesh.shape()), std::move(program));
  return workload;
}

void use_sub_devices(MeshDevice& mesh) {
  const SubDevice left(std::array{columns(0, 3)});
  const SubDevice right(std::array{columns(4, 7)});
  mesh.load_sub_device_manager(mesh.create_sub_device_manager({left, right}, 64000));
  const auto of_left = sharded(mesh, columns(0, 1), SubDeviceId{0});
  say("left", mesh);
  const auto of_right = sharded(mesh, columns(4, 7), SubDeviceId{1});
  say("right", mesh);
  const auto of_all = sharded(mesh, columns(0, 1), std::nullopt);
  say("all", mesh);
}

void use_views(MeshDevice& mesh) {
  const auto buffer = sharded(mesh, columns(0, 1), std::nullopt);
  say("buffer", mesh);
  auto view = buffer->get_backing_buffer()->view(BufferRegion(0, 4096));
  const auto inner = view->view(BufferRegion(2048, 2048));
  say("views", mesh);
  view.reset();
  say("view", mesh);
}

void use_globals(MeshDevice& mesh) {
  const auto semaphore = CreateGlobalSemaphore(mesh, columns(0, 7), 0);
  say("semaphore", mesh);
  const auto global = experimental::CreateGlobalCircularBuffer(
      mesh, {{CoreCoord(0, 0), CoreRangeSet(CoreRange({1, 0}, {3, 0}))}}, 8192);
  say("global", mesh);
  auto workload = program_in(global, mesh);
  distributed::EnqueueMeshWorkload(mesh.mesh_command_queue(), workload, false);
  say("program", mesh);
}

}  // namespace

int main() {
  const auto mesh = MeshDevice::create(distributed::MeshDeviceConfig(std::nullopt));
  ttmem::tt_metal::attach();
  use_sub_devices(*mesh);
  mesh->clear_loaded_sub_device_manager();
  use_views(*mesh);
  use_globals(*mesh);
  say("nothing", *mesh);
  return 0;
}
