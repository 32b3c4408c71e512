// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <time.h>

#include <cstdint>

namespace ttmem::tracker {

// Ages are shown in seconds and events are ordered by number: the tick of the coarse clock, a few
// milliseconds, is fine enough, and it costs a third of the exact one.
inline std::uint64_t now() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace ttmem::tracker
