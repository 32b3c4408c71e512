// SPDX-License-Identifier: Apache-2.0
//
// Usage: crowd PROCESSES ALLOCATIONS. Starts many tracked processes that hold memory. Prints
// "ready" when all processes hold their memory. Ends the processes when its standard input closes.
// measure_server.py runs this program.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "workload.hpp"

namespace {

// Holds memory until the parent ends. Never returns.
[[noreturn]] void hold(std::uint32_t device, std::uint64_t allocations, int ready) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ttmem::bench::open_device(device);
  ttmem::bench::place(device, 1, 0);
  for (std::uint64_t id = 1; id <= allocations; ++id) {
    const ttmem_buffer buffer = ttmem::bench::dram_buffer(id);
    ttmem_buffer_alloc(device, &buffer);
  }
  if (::write(ready, "", 1) != 1) ::_exit(1);
  for (;;) ::pause();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: crowd PROCESSES ALLOCATIONS\n");
    return 2;
  }
  const int processes = std::atoi(argv[1]);
  const auto allocations = static_cast<std::uint64_t>(std::atoll(argv[2]));
  int ready[2];
  if (::pipe(ready) != 0) return 1;
  std::vector<pid_t> members;
  for (int i = 0; i < processes; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) hold(static_cast<std::uint32_t>(i % 8), allocations, ready[1]);
    if (pid > 0) members.push_back(pid);
  }
  char byte = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (::read(ready[0], &byte, 1) != 1) return 1;
  }
  std::puts("ready");
  std::fflush(stdout);
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
  for (const pid_t pid : members) ::kill(pid, SIGTERM);
  for (const pid_t pid : members) ::waitpid(pid, nullptr, 0);
  return 0;
}
