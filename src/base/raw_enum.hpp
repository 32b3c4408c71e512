// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace ttmem {

// Returns the number in an enum that a C program wrote. The number may differ from all enumerators.
// Reading such a number as the enum would be undefined behaviour.
template <typename Enum>
[[nodiscard]] std::uint32_t raw_value(const Enum& from) noexcept {
  return std::bit_cast<std::uint32_t>(from);
}

}  // namespace ttmem
