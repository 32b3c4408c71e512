// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <cerrno>

namespace ttmem {

// For the rare system calls inside a workload's call: while it lives the thread is not cancelled in
// the middle of our work, and afterwards errno is what the workload left in it.
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
