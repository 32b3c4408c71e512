// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"

namespace ttmem::tracker {

// Coarse is enough: ages are shown in seconds, and events are ordered by number.
inline std::uint64_t now() noexcept { return clock_ns(CLOCK_MONOTONIC_COARSE); }

}  // namespace ttmem::tracker
