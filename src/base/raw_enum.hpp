// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

namespace ttmem {

// The number in an enum that a C program filled. It may be none of its values, and looking at such
// an enum as one is undefined.
template <typename Enum>
[[nodiscard]] std::uint32_t raw_value(const Enum& from) noexcept {
  static_assert(sizeof from == sizeof(std::uint32_t));
  std::uint32_t value = 0;
  std::memcpy(&value, &from, sizeof value);
  return value;
}

}  // namespace ttmem
