// SPDX-License-Identifier: Apache-2.0
//
// Measures the time to make a snapshot of 8 real processes, each with 32 devices and 1,000 live
// allocations.
#include <benchmark/benchmark.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "base/environment.hpp"
#include "read/collector/collector.hpp"
#include "workload.hpp"

namespace ttmem::bench {
namespace {

// Starts a process that holds its memory until it is killed.
pid_t start_holder() {
  int ready[2];
  if (::pipe(ready) != 0) std::abort();
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (std::uint32_t device = 0; device < 32; ++device) {
      open_device(device);
      place(device, 1, device);
    }
    for (std::uint64_t id = 1; id <= 1000; ++id) {
      const ttmem_buffer buffer = dram_buffer(id);
      ttmem_buffer_alloc(static_cast<std::uint32_t>(id % 32), &buffer);
    }
    if (::write(ready[1], "", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char byte = 0;
  if (::read(ready[0], &byte, 1) != 1) std::abort();
  ::close(ready[0]);
  ::close(ready[1]);
  return pid;
}

void collect_32x8(benchmark::State& state) {
  std::vector<pid_t> holders;
  for (int i = 0; i < 8; ++i) holders.push_back(start_holder());
  const std::string directory = segment_directory();
  std::size_t seen = 0;
  for (auto _ : state) {
    const model::Snapshot snapshot = collector::collect(directory);
    seen = snapshot.allocations.size();
  }
  state.counters["allocations"] = static_cast<double>(seen);
  for (const pid_t pid : holders) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  const auto report = collector::reap(directory, collector::find_dead(directory).segments);
  if (seen != 8000 || report.removed != 8) state.SkipWithError("a holder is missing");
}
BENCHMARK(collect_32x8)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ttmem::bench
