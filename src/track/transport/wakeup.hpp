// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace ttmem::transport {

// Wakes one thread of this process, without a descriptor that the workload could close. A
// notification between count() and wait() is not lost. Safe from any thread.
class Wakeup {
 public:
  [[nodiscard]] std::uint32_t count() const noexcept {
    return count_.load(std::memory_order_acquire);  // pairs with notify()
  }
  void notify() noexcept {
    count_.fetch_add(1, std::memory_order_release);
    // Uses the address only: the woken thread may have destroyed the object by now.
    ::syscall(SYS_futex, &count_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  // Returns once count() differs from `seen`, after `at_most`, or spuriously.
  void wait(std::uint32_t seen, std::chrono::milliseconds at_most) noexcept {
    const timespec time{static_cast<time_t>(at_most.count() / 1000),
                        static_cast<long>(at_most.count() % 1000 * 1'000'000)};
    ::syscall(SYS_futex, &count_, FUTEX_WAIT_PRIVATE, seen, &time, nullptr, 0);
  }

 private:
  std::atomic<std::uint32_t> count_{0};
  static_assert(sizeof(count_) == 4);
};

}  // namespace ttmem::transport
