// SPDX-License-Identifier: Apache-2.0
//
// Host code for measure_adapter.py. Measures how long calls of the runtime take and prints "NAME
// NANOSECONDS" for each call. Without the macro TTMEM_PROCESSOR, the code does not use ttmem, and
// measure_adapter.py may preload the adapter. With the macro, the code attaches the processor and
// names its programs as ttnn names programs.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <tt-metalium/host_api.hpp>
#include <utility>

#ifdef TTMEM_PROCESSOR
#include <tt-metalium/graph_tracking.hpp>
#include <ttmem_tt_metal.hpp>
#endif

namespace {

using namespace tt::tt_metal;
using distributed::MeshBuffer;
using distributed::MeshDevice;
using distributed::MeshWorkload;

// Returns the CPU time of this thread. CPU time excludes the time in which other processes run.
double cpu_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

// Prints the CPU time of one action in nanoseconds. Runs several rounds of `times` actions and uses
// the fastest round, because other load only adds time.
template <typename Action>
void measure(const char* name, int times, Action action) {
  constexpr int rounds = 15;
  double fastest = 0;
  for (int round = 0; round < rounds; ++round) {
    const double begin = cpu_nanoseconds();
    for (int i = 0; i < times; ++i) action();
    const double took = (cpu_nanoseconds() - begin) / times;
    fastest = round == 0 ? took : std::min(fastest, took);
  }
  std::printf("%s %.1f\n", name, fastest);
}

MeshWorkload workload(const MeshDevice& mesh, std::uint32_t cbs) {
  Program program = CreateProgram();
  const CoreRange cores({0, 0}, {6, 6});
  for (std::uint32_t i = 0; i < cbs; ++i) {
    CreateCircularBuffer(
        program, cores,
        CircularBufferConfig(2048, {{i, tt::DataFormat::Float16_b}}).set_page_size(i, 2048));
  }
  MeshWorkload made;
  made.add_program(distributed::MeshCoordinateRange(mesh.shape()), std::move(program));
  return made;
}

void run(MeshDevice& mesh, MeshWorkload& work) {
#ifdef TTMEM_PROCESSOR
  GraphTracker::instance().track_program(&work.get_programs().begin()->second, &mesh);
#endif
  distributed::EnqueueMeshWorkload(mesh.mesh_command_queue(), work, false);
}

void place(MeshDevice& mesh, std::uint32_t cbs) {
  MeshWorkload made = workload(mesh, cbs);
  run(mesh, made);
}

#ifdef TTMEM_PROCESSOR
void place_nameless(MeshDevice& mesh, std::uint32_t cbs) {
  MeshWorkload made = workload(mesh, cbs);
  distributed::EnqueueMeshWorkload(mesh.mesh_command_queue(), made, false);
}
#endif

}  // namespace

int main() {
  const auto mesh = MeshDevice::create(distributed::MeshDeviceConfig(std::nullopt));
#ifdef TTMEM_PROCESSOR
  ttmem::tt_metal::attach();
#endif
  const auto pair = [&] {
    MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = 2048},
                       {.page_size = 2048, .buffer_type = BufferType::DRAM}, mesh.get());
  };
  measure("buffer_pair", 2000, pair);
  measure("operation", 2000, [&] {  // makes the same reports as an operation of ttnn
    auto& tracker = GraphTracker::instance();
    int first = 1;
    double second = 2;
    tracker.track_function_start("ttnn::add", first, second, *mesh);
    pair();
    tracker.track_function_end(first);
  });
  measure("place_8", 200, [&] { place(*mesh, 8); });
  measure("place_32", 50, [&] { place(*mesh, 32); });
  MeshWorkload again = workload(*mesh, 8);
  measure("dispatch_again", 2000, [&] { run(*mesh, again); });
  measure("exception", 2000, [] {
    try {
      throw std::runtime_error("TT_FATAL @ program.cpp:117: !circular_buffers.empty()");
    } catch (const std::runtime_error&) {  // NOLINT(bugprone-empty-catch): only throwing is timed
    }
  });
#ifdef TTMEM_PROCESSOR
  measure("place_8_nameless", 200, [&] { place_nameless(*mesh, 8); });
  measure("place_32_nameless", 50, [&] { place_nameless(*mesh, 32); });
#endif
  return 0;
}
