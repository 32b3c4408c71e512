// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/kinds.hpp"

namespace ttmem::imports {

// Returns the bit of a kind in recording::RecordedDevice::known_kinds.
[[nodiscard]] constexpr std::uint32_t bit_of(Kind kind) {
  return 1U << static_cast<unsigned>(kind);
}

// The bits of all kinds of buffers.
inline constexpr std::uint32_t kBufferBits = bit_of(Kind::dram) | bit_of(Kind::l1) |
                                             bit_of(Kind::l1_small) | bit_of(Kind::trace) |
                                             bit_of(Kind::system);

}  // namespace ttmem::imports
