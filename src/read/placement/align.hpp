// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ttmem::placement {

constexpr std::uint64_t divide_up(std::uint64_t value, std::uint64_t divisor) {
  return value / divisor + (value % divisor != 0 ? 1 : 0);
}

// Rounds `value` up to a multiple of `alignment`, which need not be a power of two.
constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return divide_up(value, alignment) * alignment;
}

}  // namespace ttmem::placement
