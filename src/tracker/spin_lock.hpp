// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>
#include <time.h>

#include <atomic>

#include "base/thread_state_guard.hpp"

namespace ttmem::tracker {

// A lock for sections of a few dozen nanoseconds. Without contention, lock() costs one atomic
// exchange and unlock() a plain store: half of a std::mutex. A thread that waits long yields its
// core, so that a preempted holder can continue.
class SpinLock {
 public:
  void lock() noexcept {
    for (unsigned attempt = 0; held_.exchange(true, std::memory_order_acquire); ++attempt) {
      wait(attempt);
    }
  }
  // Gives up after about `milliseconds`.
  [[nodiscard]] bool try_lock_for(unsigned milliseconds) noexcept {
    for (unsigned attempt = 0; held_.exchange(true, std::memory_order_acquire); ++attempt) {
      if (attempt < kSpins + kYields) {
        wait(attempt);
      } else if (attempt == kSpins + kYields + milliseconds) {
        return false;
      } else {
        sleep(1'000'000);
      }
    }
    return true;
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  static constexpr unsigned kSpins = 64;
  static constexpr unsigned kYields = 256;

  static void sleep(long nanoseconds) noexcept {
    const ThreadStateGuard guard;  // nanosleep is a cancellation point
    const timespec pause{0, nanoseconds};
    ::nanosleep(&pause, nullptr);
  }
  void wait(unsigned attempt) const noexcept {
    if (attempt >= kSpins + kYields) {
      sleep(50'000);
    } else if (attempt >= kSpins) {
      ::sched_yield();
    } else {
      // Relaxed: only a hint when to try again. The exchange in lock() orders.
      for (int i = 0; i < 32 && held_.load(std::memory_order_relaxed); ++i) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
      }
    }
  }

  std::atomic<bool> held_{false};
};

}  // namespace ttmem::tracker
