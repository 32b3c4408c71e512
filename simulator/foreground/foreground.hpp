// SPDX-License-Identifier: Apache-2.0
//
// For the commands that are workloads themselves (demo, replay): this process is tracked like any
// other, prints the command that shows it, and ends with Ctrl-C or a signal.
#pragma once

#include <signal.h>

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace ttmem::foreground {

// Turns tracking on in this process. Call it before any other ttmem_* call and before threads are
// started (it changes the environment). Fails when no segment could be made.
[[nodiscard]] Result<void> start_tracking();

// Prints `what` on stderr, and the command that shows it.
void announce(std::string_view what);

// While it lives, SIGINT, SIGTERM and SIGHUP end this object's waits and not the process.
// A signal that was ignored before (nohup, a background job) stays ignored. Threads inherit the
// mask: make it before them. One thread uses it.
class StopSignals {
 public:
  using Clock = std::chrono::steady_clock;

  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Waits until `when`; true when a signal came first. Does not wait when `when` has passed.
  [[nodiscard]] bool came_before(Clock::time_point when);

  // Waits for a signal, however long.
  void wait();

 private:
  sigset_t signals_;
  sigset_t mask_before_;
};

}  // namespace ttmem::foreground
