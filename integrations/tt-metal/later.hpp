// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>

namespace ttmem::tt_metal {

// Calls a function every few milliseconds on a thread of its own, from begin() until the function
// returns false. The rest of the time the thread sleeps and uses no CPU. The function, and all
// methods of this class, are called while the given mutex is locked.
//
// An object of this class is never destroyed, because the thread may be running when the process
// ends.
class Later {
 public:
  // `step` is the function to call. It returns false if nothing is left to do.
  Later(std::mutex& mutex, bool (*step)()) : mutex_(mutex), step_(step) {}

  // Starts the calls. If no thread can be created, `step` is never called.
  void begin();
  // Resets the state. Call this in a child process after a fork, because the child does not have
  // the thread.
  void forget();

 private:
  void run();

  std::mutex& mutex_;
  bool (*const step_)();
  std::condition_variable& wake_ = *new std::condition_variable;
  bool has_thread_ = false;
  bool busy_ = false;
};

}  // namespace ttmem::tt_metal
