// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/bit_mask.hpp"

namespace ttmem {

// The maximum number of compute cores of a device. The largest known grid is 14 x 10.
inline constexpr std::uint32_t kMaxCores = 256;

// A set of compute cores of one device. Core (x, y) of a grid with X columns is number y * X + x.
using CoreMask = BitMask<kMaxCores>;

}  // namespace ttmem
