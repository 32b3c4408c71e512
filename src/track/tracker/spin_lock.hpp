// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>
#include <time.h>

#include <atomic>

#include "base/thread_state_guard.hpp"

namespace ttmem::tracker {

// A lock for critical sections of a few dozen nanoseconds. Without contention, locking costs one
// atomic exchange, and unlock() costs a plain store. Together they cost half as much as a
// std::mutex. A thread that waits long yields its core, so that a preempted holder can continue.
//
// The lock knows its holder, because a signal handler that interrupted the holder must not wait for
// the lock.
class SpinLock {
 public:
  // Waits for the lock. This thread must not hold the lock already, as it may in a signal handler.
  void lock() noexcept { static_cast<void>(lock_unless_held_here()); }

  // Waits for the lock. Returns false, without the lock, if this thread holds the lock already.
  [[nodiscard]] bool lock_unless_held_here() noexcept {
    for (unsigned attempt = 0; !try_lock(); ++attempt) {
      if (is_held_here()) return false;
      wait(attempt);
    }
    return true;
  }
  // Waits at most about `milliseconds` for the lock. Returns false after this time, and immediately
  // if this thread holds the lock already.
  [[nodiscard]] bool try_lock_for(unsigned milliseconds) noexcept {
    for (unsigned attempt = 0; !try_lock(); ++attempt) {
      if (is_held_here() || attempt == kSpins + kYields + milliseconds) return false;
      if (attempt < kSpins + kYields) {
        wait(attempt);
      } else {
        sleep(1'000'000);
      }
    }
    return true;
  }
  void unlock() noexcept { holder_.store(nullptr, std::memory_order_release); }

 private:
  static constexpr unsigned kSpins = 64;
  static constexpr unsigned kYields = 256;

  // Returns an address that differs between threads that live at the same time. With the TLS model
  // initial-exec, computing the address takes one register, and the first call of a thread
  // allocates no memory.
  [[nodiscard]] static const char* this_thread() noexcept {
    [[gnu::tls_model("initial-exec")]] static thread_local constinit char mark = 0;
    return &mark;
  }
  [[nodiscard]] bool try_lock() noexcept {
    const char* unlocked = nullptr;
    return holder_.compare_exchange_strong(unlocked, this_thread(), std::memory_order_acquire,
                                           std::memory_order_relaxed);
  }
  // Relaxed suffices, because only this thread stores the address of this thread in `holder_`.
  [[nodiscard]] bool is_held_here() const noexcept {
    return holder_.load(std::memory_order_relaxed) == this_thread();
  }

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
      // Relaxed suffices, because the value is only a hint when to try again. The acquire in
      // try_lock() orders the accesses to the guarded data.
      for (int i = 0; i < 32 && holder_.load(std::memory_order_relaxed) != nullptr; ++i) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
      }
    }
  }

  std::atomic<const char*> holder_{nullptr};
};

}  // namespace ttmem::tracker
