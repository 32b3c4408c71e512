// SPDX-License-Identifier: Apache-2.0
//
// Host code without any use of ttmem, with difficult cases for hooks: frees on other threads,
// layouts that change, programs that end in any order, circular buffers in L1 buffers, and devices
// that close and open again.
// After each step it prints the runtime's own figures for its first chip, "STEP dram BYTES l1 BYTES
// small BYTES cb BYTES programs COUNT", and waits for a byte.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/device_impl.hpp>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/tt_metal.hpp>
#include <utility>
#include <vector>

namespace {

using namespace tt::tt_metal;
using distributed::MeshBuffer;
using distributed::MeshDevice;
using distributed::MeshWorkload;

std::size_t taken(const MeshDevice& mesh, BufferType type) {
  return mesh.allocator()->get_statistics(type).total_allocated_bytes *
         mesh.allocator()->get_num_banks(type);
}

void say(const std::string& step, const MeshDevice& mesh) {
  const auto& chip = dynamic_cast<const Device&>(*mesh.get_devices().front());
  std::printf(
      "%s dram %zu l1 %zu small %zu cb %zu programs %zu\n", step.c_str(),
      taken(mesh, BufferType::DRAM), taken(mesh, BufferType::L1), taken(mesh, BufferType::L1_SMALL),
      static_cast<std::size_t>(chip.get_total_cb_allocated()), chip.num_registered_programs());
  std::fflush(stdout);
  if (std::getchar() == EOF) std::exit(1);
}

std::shared_ptr<MeshBuffer> buffer(MeshDevice& mesh, BufferType type, DeviceAddr pages) {
  return MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = 2048 * pages},
                            {.page_size = 2048, .buffer_type = type}, &mesh);
}

struct Placed {
  MeshWorkload workload;
  CBHandle first_cb = 0;
};

void run(MeshDevice& mesh, Placed& placed) {
  distributed::EnqueueMeshWorkload(mesh.mesh_command_queue(), placed.workload, false);
}

// Declares a program with `cbs` circular buffers of `bytes` on cores (0,0) to (side-1,side-1).
Placed declare(MeshDevice& mesh, std::uint32_t bytes, std::uint32_t cbs, std::size_t side) {
  Placed placed;
  Program program = CreateProgram();
  const CoreRange cores({0, 0}, {side - 1, side - 1});
  CreateKernel(program, "reader.cpp", cores, DataMovementConfig{});
  for (std::uint32_t i = 0; i < cbs; ++i) {
    const CBHandle cb = CreateCircularBuffer(
        program, cores,
        CircularBufferConfig(bytes, {{i, tt::DataFormat::Float16_b}}).set_page_size(i, 2048));
    if (i == 0) placed.first_cb = cb;
  }
  placed.workload.add_program(distributed::MeshCoordinateRange(mesh.shape()), std::move(program));
  return placed;
}

Placed place(MeshDevice& mesh, std::uint32_t bytes, std::uint32_t cbs, std::size_t side) {
  Placed placed = declare(mesh, bytes, cbs, side);
  run(mesh, placed);
  return placed;
}

// Changes the size of the program's first circular buffer, so that the other buffers move.
void lay_out_again(MeshDevice& mesh, Placed& placed, std::uint32_t bytes) {
  UpdateCircularBufferTotalSize(placed.workload.get_programs().begin()->second, placed.first_cb,
                                bytes);
  run(mesh, placed);
}

// Places a program whose only circular buffer lies in an L1 buffer.
Placed place_view(MeshDevice& mesh, const MeshBuffer& on) {
  Placed placed;
  Program program = CreateProgram();
  const CoreRange cores({0, 0}, {0, 0});
  CreateCircularBuffer(program, cores,
                       CircularBufferConfig(2048, {{0, tt::DataFormat::Float16_b}})
                           .set_page_size(0, 2048)
                           .set_globally_allocated_address(*on.get_reference_buffer()));
  placed.workload.add_program(distributed::MeshCoordinateRange(mesh.shape()), std::move(program));
  run(mesh, placed);
  return placed;
}

void random_life(MeshDevice& mesh, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::shared_ptr<MeshBuffer>> buffers;
  std::vector<Placed> programs;
  for (int i = 0; i < 200; ++i) {
    buffers.push_back(
        buffer(mesh, random() % 2 == 0 ? BufferType::DRAM : BufferType::L1, 1 + random() % 7));
    if (i % 4 == 0) programs.push_back(place(mesh, 2048 * (1 + random() % 4), 2, 1 + random() % 7));
    if (buffers.size() > 10) buffers.erase(buffers.begin() + static_cast<int>(random() % 10));
    if (programs.size() > 5) programs.erase(programs.begin() + static_cast<int>(random() % 5));
  }
}

std::shared_ptr<MeshDevice> open() {
  return MeshDevice::create(distributed::MeshDeviceConfig(std::nullopt), 32768, 4194304);
}

}  // namespace

int main() {
  auto mesh = open();
  say("open", *mesh);
  std::vector<std::shared_ptr<MeshBuffer>> buffers;
  for (DeviceAddr pages = 1; pages < 20; ++pages) {
    buffers.push_back(buffer(*mesh, pages % 3 == 0 ? BufferType::L1 : BufferType::DRAM, pages));
  }
  say("buffers", *mesh);
  std::thread([&] { buffers.erase(buffers.begin(), buffers.begin() + 7); }).join();
  say("freed-elsewhere", *mesh);

  std::vector<Placed> programs;
  for (std::uint32_t i = 1; i <= 12; ++i) programs.push_back(place(*mesh, 2048 * i, 8, 7));
  say("programs", *mesh);
  programs.erase(programs.begin() + 2, programs.begin() + 9);
  say("evicted", *mesh);
  lay_out_again(*mesh, programs.back(), 65536);
  say("new-layout", *mesh);
  lay_out_again(*mesh, programs.back(), 2048);
  say("old-layout", *mesh);
  {
    const auto on = buffer(*mesh, BufferType::L1, 64);
    const Placed view = place_view(*mesh, *on);
    say("view", *mesh);
  }
  say("view-gone", *mesh);
  {
    const auto low =
        buffer(*mesh, BufferType::L1, mesh->allocator()->get_num_banks(BufferType::L1) * 500);
    Placed large = declare(*mesh, 2048 * 100, 2, 7);
    try {
      run(*mesh, large);
    } catch (const std::runtime_error&) {
      say("clash", *mesh);
    }
  }

  {
    const auto id = distributed::BeginTraceCapture(mesh.get(), 0);
    run(*mesh, programs[0]);
    mesh->end_mesh_trace(0, id);
    run(*mesh, programs[1]);
    say("recorded", *mesh);
    mesh->replay_mesh_trace(0, id, true);
    say("replayed", *mesh);
    mesh->release_mesh_trace(id);
    say("released", *mesh);
  }

  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; ++i) threads.emplace_back([&, i] { random_life(*mesh, i); });
  for (std::thread& thread : threads) thread.join();
  say("threads", *mesh);

  programs.clear();
  mesh->close();
  buffers.resize(3);
  mesh = open();
  buffers.clear();  // their device was closed
  say("again", *mesh);
  const auto last = buffer(*mesh, BufferType::DRAM, 5);
  say("last", *mesh);
  return 0;
}
