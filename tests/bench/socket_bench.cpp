// SPDX-License-Identifier: Apache-2.0
#include "socket_bench.hpp"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>

#include "workload.hpp"

namespace ttmem::bench {
namespace {

constexpr int kBursts = 200;
constexpr int kPairs = 1000;  // a burst fills only a part of the queue, so no message is dropped

double cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

double measure() {
  open_device(0);
  for (std::uint64_t id = 1; id <= 1000; ++id) {
    const ttmem_buffer live = dram_buffer(id);
    ttmem_buffer_alloc(0, &live);
  }
  ttmem_buffer buffer = dram_buffer(0);
  double fastest = 1e9;
  for (int burst = 0; burst < kBursts; ++burst) {
    const timespec pause{0, 5'000'000};  // the transport empties the queue meanwhile
    ::nanosleep(&pause, nullptr);
    const double before = cpu_ns();
    for (int i = 0; i < kPairs; ++i) {
      buffer.id = 5000 + static_cast<std::uint64_t>(i);
      ttmem_buffer_alloc(0, &buffer);
      ttmem_buffer_free(0, TTMEM_DRAM, buffer.id);
    }
    fastest = std::min(fastest, (cpu_ns() - before) / kPairs);
  }
  return fastest;
}

// Runs the measurement in a child process, and the reader in the parent.
double measured_beside_a_reader(int listener, const std::string& path) {
  int result[2];
  if (::pipe(result) != 0) return 0;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(listener);
    ::setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);
    ::setenv("TTMEM_TRANSPORT", "socket", 1);
    ::setenv("TTMEM_SOCKET", path.c_str(), 1);
    const double value = measure();
    ::_exit(::write(result[1], &value, sizeof value) == sizeof value ? 0 : 1);
  }
  ::close(result[1]);
  std::thread reader([listener] {
    const int client = ::accept(listener, nullptr, nullptr);
    static char ignored[1 << 18];
    while (::read(client, ignored, sizeof ignored) > 0) {
    }
    ::close(client);
  });
  double value = 0;
  if (::read(result[0], &value, sizeof value) != sizeof value) value = 0;
  ::close(result[0]);
  ::waitpid(child, nullptr, 0);
  ::shutdown(listener, SHUT_RDWR);
  reader.join();
  return value;
}

}  // namespace

double socket_pair_ns() {
  std::string directory = "/tmp/ttmem-bench-XXXXXX";
  if (::mkdtemp(directory.data()) == nullptr) return 0;
  const std::string path = directory + "/server";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  double value = 0;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(listener, 1) == 0) {
    value = measured_beside_a_reader(listener, path);
  }
  ::close(listener);
  ::unlink(path.c_str());
  ::rmdir(directory.c_str());
  return value;
}

}  // namespace ttmem::bench
