// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <cerrno>

namespace ttmem {

// Saves errno, and restores it in the destructor. Used around code that may allocate, because a
// failed allocation changes errno.
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

// Used around system calls inside a tracked call. While the guard lives, the thread cannot be
// cancelled. The destructor restores the errno of the workload.
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
