// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

namespace ttmem {

// The number in an enum that a C program wrote. It may be none of the enumerators; to read it as
// the enum would then be undefined behaviour.
template <typename Enum>
[[nodiscard]] std::uint32_t raw_value(const Enum& from) noexcept {
  static_assert(sizeof from == sizeof(std::uint32_t));
  std::uint32_t value = 0;
  std::memcpy(&value, &from, sizeof value);
  return value;
}

}  // namespace ttmem
