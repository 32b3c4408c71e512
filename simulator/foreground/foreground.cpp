// SPDX-License-Identifier: Apache-2.0
#include "simulator/foreground/foreground.hpp"

#include <fmt/core.h>
#include <pthread.h>
#include <ttmem/ttmem.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>

#include "base/environment.hpp"
#include "base/safe_text.hpp"

namespace ttmem::foreground {
namespace {

constexpr std::array<int, 3> kStopSignals = {SIGINT, SIGTERM, SIGHUP};

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Result<void> start_tracking() {
  ::setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);
  if (ttmem_enabled() != 0) return {};
  return Error{fmt::format(
      "tracking could not start: no segment can be made in {}; check that this directory "
      "exists, is writable and has space, or set TTMEM_DIR to one that is",
      segment_directory())};
}

void announce(std::string_view what) {
  const std::string_view directory = environment("TTMEM_DIR");
  fmt::print(stderr, "{}, pid {}; in another terminal: {}ttmem   (Ctrl-C ends it)\n",
             safe_text(what), ::getpid(),
             directory.empty() ? "" : fmt::format("TTMEM_DIR={} ", safe_text(directory)));
  std::fflush(stderr);
}

StopSignals::StopSignals() {
  ::sigemptyset(&signals_);
  for (int signal : kStopSignals) {
    if (!is_ignored(signal)) ::sigaddset(&signals_, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &signals_, &mask_before_);
}

StopSignals::~StopSignals() { ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr); }

bool StopSignals::came_before(Clock::time_point when) {
  using std::chrono::nanoseconds;
  while (true) {
    const nanoseconds left = std::max<nanoseconds>(when - Clock::now(), nanoseconds::zero());
    const timespec timeout{left.count() / std::nano::den, left.count() % std::nano::den};
    if (::sigtimedwait(&signals_, nullptr, &timeout) > 0) return true;
    // EINTR means that the handler of another signal interrupted the wait, which then continues.
    // Any other error means that the time is over.
    if (errno != EINTR) return false;
  }
}

void StopSignals::wait() {
  while (::sigwaitinfo(&signals_, nullptr) < 0 && errno == EINTR) {
  }
}

}  // namespace ttmem::foreground
