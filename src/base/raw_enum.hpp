// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace ttmem {

// The number in an enum that a C program wrote. It may be none of the enumerators; to read it as
// the enum would then be undefined behaviour.
template <typename Enum>
[[nodiscard]] std::uint32_t raw_value(const Enum& from) noexcept {
  return std::bit_cast<std::uint32_t>(from);
}

}  // namespace ttmem
