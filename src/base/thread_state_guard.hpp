// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <cerrno>

namespace ttmem {

// Surrounds code that may allocate. Restores errno at its end, because a failed allocation changes
// errno.
class ErrnoGuard {
 public:
  ErrnoGuard() noexcept : place_(&errno), errno_(*place_) {}
  ~ErrnoGuard() { *place_ = errno_; }
  ErrnoGuard(const ErrnoGuard&) = delete;
  ErrnoGuard& operator=(const ErrnoGuard&) = delete;

 private:
  int* place_;  // address of this thread's errno
  int errno_;
};

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
