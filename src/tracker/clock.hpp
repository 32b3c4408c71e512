// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <time.h>

#include <cstdint>

namespace ttmem::tracker {

// The coarse clock has a tick of a few milliseconds and costs a third of the exact one. That is
// enough: ages are shown in seconds, and events are ordered by number.
inline std::uint64_t now() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace ttmem::tracker
