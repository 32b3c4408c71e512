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

constexpr std::size_t kMaxPaths = 8;

// The data for the signal handler: paths at fixed places, and the number of complete paths.
std::array<std::array<char, PATH_MAX>, kMaxPaths> paths;
std::atomic<std::size_t> count = 0;
static_assert(std::atomic<std::size_t>::is_always_lock_free);

extern "C" void remove_and_end(int signal) {
  // Pairs with the release in remove_when_interrupted(), so that the handler sees only complete
  // paths.
  for (std::size_t i = count.load(std::memory_order_acquire); i > 0; --i) {
    const char* path = paths[i - 1].data();
    if (unlink(path) != 0) rmdir(path);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void remove_when_interrupted(const std::string& path) {
  // A relaxed load suffices, because only this thread writes `count`.
  const std::size_t place = count.load(std::memory_order_relaxed);
  if (place == kMaxPaths || path.size() >= PATH_MAX) return;
  path.copy(paths[place].data(), path.size());
  count.store(place + 1, std::memory_order_release);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // Restores the setting of a signal that was ignored before, because nohup relies on this
    // setting.
    if (std::signal(signal, remove_and_end) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

}  // namespace ttmem::exports
