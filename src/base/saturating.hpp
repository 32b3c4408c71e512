// SPDX-License-Identifier: Apache-2.0
//
// Sums and products of figures from other processes. A result that is too large becomes the largest
// number instead of wrapping around.
#pragma once

#include <cstdint>
#include <limits>

namespace ttmem {

[[nodiscard]] constexpr std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return a > most - b ? most : a + b;
}

[[nodiscard]] constexpr std::uint64_t saturating_mul(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return b != 0 && a > most / b ? most : a * b;
}

}  // namespace ttmem
