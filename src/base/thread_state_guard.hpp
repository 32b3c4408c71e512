// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <cerrno>

namespace ttmem {

// Surrounds system calls that a tracked call makes. While it lives the thread cannot be cancelled;
// its end restores errno as the workload left it.
class ThreadStateGuard {
 public:
  ThreadStateGuard() noexcept : errno_(errno) {
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
  }
  ~ThreadStateGuard() {
    ::pthread_setcancelstate(cancel_state_, nullptr);
    errno = errno_;
  }
  ThreadStateGuard(const ThreadStateGuard&) = delete;
  ThreadStateGuard& operator=(const ThreadStateGuard&) = delete;

 private:
  int errno_;
  int cancel_state_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace ttmem
