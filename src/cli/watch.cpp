// SPDX-License-Identifier: Apache-2.0
#include "cli/watch.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>

#include "cli/terminal.hpp"

namespace ttmem::cli {
namespace {

volatile std::sig_atomic_t stop_requested = 0;

void request_stop(int) { stop_requested = 1; }
// Does nothing. SIGWINCH interrupts ppoll() only if SIGWINCH has a handler.
void notice(int) {}

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";  // alternate screen, no cursor
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kClearLine = "\x1b[K";
constexpr std::string_view kClearBelow = "\x1b[J";

// Sets a signal handler without SA_RESTART. The signal then also interrupts a write that waits for
// its reader.
void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

// Blocks the handled signals, so that frame() is never interrupted, and no signal is lost between
// the check of stop_requested and the wait.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : {SIGINT, SIGTERM, SIGWINCH}) sigaddset(&set, signal);
    sigprocmask(SIG_BLOCK, &set, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

  // Waits with the signals unblocked. Returns false if the loop must stop.
  [[nodiscard]] bool wait(double seconds) const {
    if (stop_requested != 0) return false;
    const double whole = std::floor(seconds);
    const timespec time{static_cast<std::time_t>(whole),
                        static_cast<long>((seconds - whole) * 1e9)};
    ppoll(nullptr, 0, &time, &before_);
    return stop_requested == 0;
  }

 private:
  sigset_t before_{};
};

// Returns the text that overwrites the previous frame. Does not clear the screen first, because
// clearing makes the screen flicker.
std::string redrawn(const std::string& frame) {
  std::string text(kHome);
  for (char c : frame) {
    if (c == '\n') text += kClearLine;
    text += c;
  }
  return text.append(kClearBelow);
}

// Writes frames until a write fails or a signal arrives, and returns which of these happened. Sets
// `last` to the last frame.
Written run(double seconds, WatchMode mode, const std::function<std::string()>& frame,
            std::string& last) {
  for (bool go_on = true; go_on;) {
    {
      const BlockedSignals blocked;
      last = frame();
    }
    const Written written =
        write_stdout(mode == WatchMode::redraw ? redrawn(last) : last, &stop_requested);
    if (written != Written::all) return written;
    go_on = BlockedSignals().wait(seconds);
  }
  return Written::interrupted;
}

}  // namespace

int watch(double seconds, WatchMode mode, const std::function<std::string()>& frame) {
  handle(SIGINT, request_stop);
  handle(SIGTERM, request_stop);
  handle(SIGWINCH, notice);
  const bool redraw = mode == WatchMode::redraw;
  if (redraw && write_stdout(kEnter) != Written::all) return kFailure;
  std::string last;
  const Written end = run(seconds, mode, frame, last);
  const int reason = errno;
  if (redraw && end != Written::closed) {
    // Ignores the result, because after a failed write the terminal is gone and nobody can be told.
    (void)write_stdout(std::string(kLeave) + last);
  }
  if (end != Written::failed) return kSuccess;
  return complain(fmt::format("cannot write to standard output: {}", std::strerror(reason)),
                  kFailure);
}

}  // namespace ttmem::cli
