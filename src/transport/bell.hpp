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

// Wakes one thread of this process, without a descriptor that the workload could close. A ring
// between heard() and wait() is not lost. Any thread may call.
class Bell {
 public:
  [[nodiscard]] std::uint32_t heard() const noexcept {
    return rings_.load(std::memory_order_acquire);  // pairs with ring()
  }
  void ring() noexcept {
    rings_.fetch_add(1, std::memory_order_release);
    // Only the address counts here: whoever heard the ring may have taken the bell away by now.
    ::syscall(SYS_futex, &rings_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  // Returns when it rang after `heard`, when the time is over, or for no reason.
  void wait(std::uint32_t heard, std::chrono::milliseconds at_most) noexcept {
    const timespec time{static_cast<time_t>(at_most.count() / 1000),
                        static_cast<long>(at_most.count() % 1000 * 1'000'000)};
    ::syscall(SYS_futex, &rings_, FUTEX_WAIT_PRIVATE, heard, &time, nullptr, 0);
  }

 private:
  std::atomic<std::uint32_t> rings_{0};
  static_assert(sizeof(rings_) == 4);
};

}  // namespace ttmem::transport
