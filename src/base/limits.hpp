// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ttmem {

// Limits that exceed the memory of every known device. A larger figure is an error, and could
// overflow a sum.
inline constexpr std::uint64_t kMaxBytes = 1ULL << 48;      // maximum size of one allocation
inline constexpr std::uint64_t kMaxCoreBytes = 1ULL << 30;  // maximum L1 of one core
inline constexpr std::uint32_t kMaxBanks = 4096;

}  // namespace ttmem
