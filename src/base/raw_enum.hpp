// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace ttmem {

// Returns the number in an enum that a C program wrote. The number may be none of the enumerators;
// reading it as the enum would then be undefined behaviour.
template <typename Enum>
[[nodiscard]] std::uint32_t raw_value(const Enum& from) noexcept {
  return std::bit_cast<std::uint32_t>(from);
}

}  // namespace ttmem
