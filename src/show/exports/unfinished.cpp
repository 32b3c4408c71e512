// SPDX-License-Identifier: Apache-2.0
#include "show/exports/unfinished.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstddef>

namespace ttmem::exports {
namespace {

constexpr std::size_t kMax = 4;

// What a signal handler may read: bytes that do not move, and how many of them are whole.
std::array<std::array<char, PATH_MAX>, kMax> paths;
std::atomic<std::size_t> count = 0;
static_assert(std::atomic<std::size_t>::is_always_lock_free);

extern "C" void remove_and_end(int signal) {
  // Acquires the paths that remove_when_interrupted() released.
  for (std::size_t i = count.load(std::memory_order_acquire); i > 0; --i) {
    const char* path = paths[i - 1].data();
    if (unlink(path) != 0) rmdir(path);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void remove_when_interrupted(const std::string& path) {
  const std::size_t place = count.load(std::memory_order_relaxed);  // only this thread writes it
  if (place == kMax || path.size() >= PATH_MAX) return;
  path.copy(paths[place].data(), path.size());
  count.store(place + 1, std::memory_order_release);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // What is ignored (nohup) stays so.
    if (std::signal(signal, remove_and_end) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

}  // namespace ttmem::exports
