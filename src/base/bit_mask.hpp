// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ttmem {

// A set of numbers below `Bits`, which must be a multiple of 64. Segments store such sets.
template <std::uint32_t Bits>
struct BitMask {
  std::array<std::uint64_t, Bits / 64> words{};

  friend bool operator==(const BitMask&, const BitMask&) = default;

  // Returns the set of the numbers below `count`.
  [[nodiscard]] static BitMask first(std::uint32_t count) noexcept {
    BitMask mask;
    for (std::size_t w = 0; w < mask.words.size() && count > 0; ++w) {
      mask.words[w] = count >= 64 ? ~0ULL : (1ULL << count) - 1;
      count -= count >= 64 ? 64 : count;
    }
    return mask;
  }

  void set(std::uint32_t bit) noexcept { words[bit / 64] |= 1ULL << (bit % 64); }
  void clear(std::uint32_t bit) noexcept { words[bit / 64] &= ~(1ULL << (bit % 64)); }
  [[nodiscard]] bool test(std::uint32_t bit) const noexcept {
    return ((words[bit / 64] >> (bit % 64)) & 1) != 0;
  }
  [[nodiscard]] bool empty() const noexcept {
    std::uint64_t all = 0;
    for (std::uint64_t word : words) all |= word;
    return all == 0;
  }
  [[nodiscard]] std::uint32_t count() const noexcept {
    std::uint32_t sum = 0;
    for (std::uint64_t word : words) sum += static_cast<std::uint32_t>(std::popcount(word));
    return sum;
  }
  // Returns the smallest number in the set, which must not be empty.
  [[nodiscard]] std::uint32_t lowest() const noexcept {
    std::uint32_t w = 0;
    while (words[w] == 0) ++w;
    return w * 64 + static_cast<std::uint32_t>(std::countr_zero(words[w]));
  }

  BitMask& operator|=(const BitMask& other) noexcept {
    for (std::size_t w = 0; w < words.size(); ++w) words[w] |= other.words[w];
    return *this;
  }
  friend BitMask operator&(BitMask a, const BitMask& b) noexcept {
    for (std::size_t w = 0; w < a.words.size(); ++w) a.words[w] &= b.words[w];
    return a;
  }
  // Returns the numbers that are in `a` but not in `b`.
  friend BitMask operator-(BitMask a, const BitMask& b) noexcept {
    for (std::size_t w = 0; w < a.words.size(); ++w) a.words[w] &= ~b.words[w];
    return a;
  }

  // Calls visit(number) in ascending order.
  template <typename Visitor>
  void for_each(Visitor&& visit) const {
    for (std::uint32_t w = 0; w < words.size(); ++w) {
      for (std::uint64_t rest = words[w]; rest != 0; rest &= rest - 1) {
        visit(w * 64 + static_cast<std::uint32_t>(std::countr_zero(rest)));
      }
    }
  }
};

}  // namespace ttmem
