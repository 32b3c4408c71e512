// SPDX-License-Identifier: Apache-2.0
//
// TT-Metal behind a few C functions, as in a Python extension module.
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/graph_tracking.hpp>
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

// Allocates a DRAM buffer of this many pages of 2 KiB.
extern "C" void take(unsigned pages) {
  buffers.push_back(distributed::MeshBuffer::create(
      distributed::ReplicatedBufferConfig{.size = DeviceAddr{2048} * pages},
      {.page_size = 2048, .buffer_type = BufferType::DRAM}, mesh.get()));
}

// Like take(), but returns false if the allocation throws.
extern "C" bool try_take(unsigned pages) {
  try {
    take(pages);
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

extern "C" void give() { buffers.pop_back(); }

// Runs a program with a circular buffer of 4 KiB on 16 cores.
extern "C" void run() {
  Program program = CreateProgram();
  CreateCircularBuffer(
      program, CoreRange({0, 0}, {3, 3}),
      CircularBufferConfig(4096, {{0, tt::DataFormat::Float16_b}}).set_page_size(0, 2048));
  workloads.emplace_back();
  workloads.back().add_program(distributed::MeshCoordinateRange(mesh->shape()), std::move(program));
  distributed::EnqueueMeshWorkload(mesh->mesh_command_queue(), workloads.back(), false);
}

// Simulates an operation of this name. An inner operation allocates a page of DRAM, and throws if
// `throws`. Then the outer operation runs a program.
extern "C" void operation(const char* name, bool throws) {
  auto& tracker = GraphTracker::instance();
  try {
    int argument = 7;
    tracker.track_function_start(name, argument);
    tracker.track_function_start("tt::tt_metal::create_device_tensor");
    take(1);
    if (throws) throw std::runtime_error("out of memory");
    tracker.track_function_end();
    run();
    tracker.track_function_end(argument);
  } catch (const std::runtime_error&) {
  }
}

// Runs the operation twice: first with one more graph processor, as during a capture of ttnn, then
// without it. Returns how many functions began while that graph processor listened.
extern "C" int capture(const char* name) {
  struct Capture : IGraphProcessor {
    int begun = 0;
    void track_function_start(std::string_view, std::span<TrackedArgument>) override { ++begun; }
  };
  const auto heard = std::make_shared<Capture>();
  GraphTracker::instance().push_processor(heard);
  operation(name, false);
  GraphTracker::instance().pop_processor();
  operation(name, false);
  return heard->begun;
}

// Runs the last program again.
extern "C" void again() {
  distributed::EnqueueMeshWorkload(mesh->mesh_command_queue(), workloads.back(), false);
}
