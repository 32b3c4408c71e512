// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <cerrno>

namespace ttmem {

// A guard for system calls made on a workload's thread. While it lives, the thread cannot be
// cancelled; its destructor restores errno.
class Undisturbed {
 public:
  Undisturbed() noexcept : errno_(errno) {
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
  }
  ~Undisturbed() {
    ::pthread_setcancelstate(cancel_state_, nullptr);
    errno = errno_;
  }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  int errno_;
  int cancel_state_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace ttmem
