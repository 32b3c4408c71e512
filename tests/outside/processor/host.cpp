// SPDX-License-Identifier: Apache-2.0
//
// Host code with the processor attached. After each step it prints the step's name and its pid, and
// waits for a byte. No hook of the processor is called between the end of a step and its printed
// line.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <tt-metalium/host_api.hpp>
#include <ttmem_tt_metal.hpp>
#include <utility>

namespace {

using namespace tt::tt_metal;
using distributed::MeshBuffer;
using distributed::MeshDevice;
using distributed::MeshWorkload;

void done(const char* step) {
  std::printf("%s %d\n", step, static_cast<int>(getpid()));
  std::fflush(stdout);
  if (std::getchar() == EOF) std::exit(1);
}

std::shared_ptr<MeshDevice> open() {
  return MeshDevice::create(distributed::MeshDeviceConfig(distributed::MeshShape(2, 4)));
}

MeshWorkload workload(const MeshDevice& mesh, std::uint32_t bytes) {
  Program program = CreateProgram();
  CreateCircularBuffer(
      program, CoreRange({0, 0}, {6, 6}),
      CircularBufferConfig(bytes, {{0, tt::DataFormat::Float16_b}}).set_page_size(0, 2048));
  MeshWorkload made;
  made.add_program(distributed::MeshCoordinateRange(mesh.shape()), std::move(program));
  return made;
}

// Runs the program as ttnn does: announces it to the graph tracker first.
void run_tracked(MeshDevice& mesh, MeshWorkload& work) {
  GraphTracker::instance().track_program(&work.get_programs().begin()->second, &mesh);
  distributed::EnqueueMeshWorkload(mesh.mesh_command_queue(), work, false);
}

void run(MeshDevice& mesh, MeshWorkload& work) {
  distributed::EnqueueMeshWorkload(mesh.mesh_command_queue(), work, false);
}

std::shared_ptr<MeshBuffer> dram(MeshDevice& mesh) {
  return MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = 12 * 2048},
                            {.page_size = 2048, .buffer_type = BufferType::DRAM}, &mesh);
}

}  // namespace

int main() {
  auto mesh = open();
  ttmem::tt_metal::attach();
  auto first = std::make_optional(workload(*mesh, 8192));
  auto second = std::make_optional(workload(*mesh, 4096));
  run_tracked(*mesh, *first);
  ttmem::tt_metal::flush();
  run_tracked(*mesh, *second);
  done("tracked");
  first.reset();
  done("evicted");
  second.reset();

  auto nameless = std::make_optional(workload(*mesh, 2048));
  run(*mesh, *nameless);
  done("nameless");
  auto other = std::make_optional(workload(*mesh, 4096));
  run(*mesh, *other);
  done("guessed");
  nameless.reset();
  other.reset();
  done("gone");

  auto outlives = dram(*mesh);
  done("buffer");
  mesh->close();
  auto again = open();
  auto anew = dram(*again);
  done("reopened");
  outlives.reset();
  done("old freed");

  auto inherited = workload(*again, 4096);
  run(*again, inherited);
  const pid_t child = fork();
  if (child == 0) {
    auto own = workload(*again, 2048);
    run(*again, own);
    done("child");
    std::_Exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  done("parent");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
