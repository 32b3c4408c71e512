// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ttmem {

// No known device has this much. Larger figures are mistakes, and would make sums overflow.
inline constexpr std::uint64_t kMaxBytes = 1ULL << 48;      // of one allocation
inline constexpr std::uint64_t kMaxCoreBytes = 1ULL << 30;  // of the L1 of one core
inline constexpr std::uint32_t kMaxBanks = 4096;

}  // namespace ttmem
