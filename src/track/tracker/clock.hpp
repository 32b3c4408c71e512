// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"

namespace ttmem::tracker {

// Returns the coarse monotonic time in nanoseconds. A coarse time suffices, because ages are shown
// in seconds, and events are ordered by their numbers.
inline std::uint64_t now() noexcept { return clock_ns(CLOCK_MONOTONIC_COARSE); }

}  // namespace ttmem::tracker
