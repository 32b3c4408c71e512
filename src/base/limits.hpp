// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ttmem {

// No device has this much: more is a mistake of whoever says it, and would spoil the sums.
inline constexpr std::uint64_t kMaxBytes = 1ULL << 48;  // of one allocation
inline constexpr std::uint32_t kMaxBanks = 4096;

}  // namespace ttmem
