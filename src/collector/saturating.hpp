// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "model/snapshot.hpp"

namespace ttmem::collector {

// Sums and products of figures that strangers wrote: they stop at the largest number instead of
// beginning again at zero.
[[nodiscard]] constexpr std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return a > most - b ? most : a + b;
}

[[nodiscard]] constexpr std::uint64_t saturating_mul(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return b != 0 && a > most / b ? most : a * b;
}

// A sum with an unknown part is unknown.
constexpr void add_to(model::Bytes& sum, model::Bytes part) {
  sum = sum && part ? model::Bytes(saturating_add(*sum, *part)) : std::nullopt;
}

}  // namespace ttmem::collector
