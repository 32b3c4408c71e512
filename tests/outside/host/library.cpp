// SPDX-License-Identifier: Apache-2.0
//
// TT-Metal behind a few C functions, as an extension module of Python has it.
#include <memory>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/host_api.hpp>
#include <utility>
#include <vector>

using namespace tt::tt_metal;

namespace {

std::shared_ptr<distributed::MeshDevice> mesh;
std::vector<std::shared_ptr<distributed::MeshBuffer>> buffers;
std::vector<distributed::MeshWorkload> workloads;

}  // namespace

extern "C" void open_device() {
  mesh = distributed::MeshDevice::create(distributed::MeshDeviceConfig(std::nullopt));
}

// A DRAM buffer of that many pages of 2 KiB.
extern "C" void take(unsigned pages) {
  buffers.push_back(distributed::MeshBuffer::create(
      distributed::ReplicatedBufferConfig{.size = DeviceAddr{2048} * pages},
      {.page_size = 2048, .buffer_type = BufferType::DRAM}, mesh.get()));
}

extern "C" void give() { buffers.pop_back(); }

// The last program once more.
extern "C" void again() {
  distributed::EnqueueMeshWorkload(mesh->mesh_command_queue(), workloads.back(), false);
}

// A program with a circular buffer of 4 KiB on 16 cores.
extern "C" void run() {
  Program program = CreateProgram();
  CreateCircularBuffer(
      program, CoreRange({0, 0}, {3, 3}),
      CircularBufferConfig(4096, {{0, tt::DataFormat::Float16_b}}).set_page_size(0, 2048));
  workloads.emplace_back();
  workloads.back().add_program(distributed::MeshCoordinateRange(mesh->shape()), std::move(program));
  distributed::EnqueueMeshWorkload(mesh->mesh_command_queue(), workloads.back(), false);
}
