// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>

namespace ttmem::tt_metal {

// Calls a function again and again, every few milliseconds, on a thread of its own, until it says
// that there is nothing left to do. In between the thread sleeps, and costs nothing. Its methods
// are called with the lock held that it was made with, and so is the function.
//
// Never destroyed: the thread may be in it when the process ends.
class Later {
 public:
  // False: nothing is left to do.
  Later(std::mutex& mutex, bool (*step)()) : mutex_(mutex), step_(step) {}

  // There is something to do. If no thread can be had, it stays undone.
  void begin();
  // In a child of the process, where the thread is not.
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
