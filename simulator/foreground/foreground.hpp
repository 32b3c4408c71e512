// SPDX-License-Identifier: Apache-2.0
// Functions for commands that are workloads themselves (demo, replay). The process of the command
// is tracked like any other process. It prints the command line that shows its memory, and ends
// with Ctrl-C or another signal.
#pragma once

#include <signal.h>

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace ttmem::foreground {

// Turns tracking on in this process. Changes the environment, so call it before threads are
// started, and before any other ttmem_* call. Fails if the process gets no segment.
[[nodiscard]] Result<void> start_tracking();

// Prints `what` on stderr, and then the command line that shows the memory of this process.
void announce(std::string_view what);

// While an object lives, SIGINT, SIGTERM and SIGHUP do not end the process, but end the waits of
// the object. A signal that was ignored before (nohup, a background job) stays ignored. Threads
// inherit the signal mask, so create the object before any thread. Use the object in one thread
// only.
class StopSignals {
 public:
  using Clock = std::chrono::steady_clock;

  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Waits until `when`. Returns true if a signal came first. Does not wait if `when` has passed.
  [[nodiscard]] bool came_before(Clock::time_point when);

  // Waits for a signal without a time limit.
  void wait();

 private:
  sigset_t signals_;
  sigset_t mask_before_;
};

}  // namespace ttmem::foreground
