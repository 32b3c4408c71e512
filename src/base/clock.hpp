// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <time.h>

#include <cstdint>

namespace ttmem {

// Returns the time of a clock of <time.h> in nanoseconds. Reading a coarse clock takes a third of
// the time of an exact clock, but a coarse clock changes only every few milliseconds.
inline std::uint64_t clock_ns(clockid_t clock) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace ttmem
