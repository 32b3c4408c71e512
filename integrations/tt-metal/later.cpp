// SPDX-License-Identifier: Apache-2.0
#include "later.hpp"

#include <signal.h>

#include <chrono>
#include <new>
#include <system_error>
#include <thread>

namespace ttmem::tt_metal {
namespace {

constexpr std::chrono::milliseconds kStep{3};

// Blocks all signals while a thread starts. The thread inherits the block, so no signal handler of
// the program runs on it.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

void Later::begin() {
  if (busy_) return;
  busy_ = true;
  if (has_thread_) {
    wake_.notify_one();
    return;
  }
  const SignalsBlocked blocked;
  try {
    std::thread([this] { run(); }).detach();
    has_thread_ = true;
  } catch (const std::system_error&) {
    busy_ = false;
  }
}

void Later::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return busy_; });
    while (busy_) {
      lock.unlock();
      std::this_thread::sleep_for(kStep);
      lock.lock();
      busy_ = step_();
    }
  }
}

void Later::forget() {
  // The child does not have the thread, but the condition variable still counts it as waiting. So
  // the child makes a new condition variable.
  new (&wake_) std::condition_variable;
  has_thread_ = false;
  busy_ = false;
}

}  // namespace ttmem::tt_metal
