// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ttmem {

// The most compute cores a device may have. The largest known grid is 14 x 10.
inline constexpr std::uint32_t kMaxCores = 256;

// A set of compute cores of one device. Core (x, y) of a grid with X columns is bit y * X + x.
struct CoreMask {
  std::array<std::uint64_t, kMaxCores / 64> words{};

  friend bool operator==(const CoreMask&, const CoreMask&) = default;

  // The first `count` cores: the whole grid of a device with that many.
  [[nodiscard]] static CoreMask first(std::uint32_t count) noexcept {
    CoreMask mask;
    for (std::size_t w = 0; w < mask.words.size() && count > 0; ++w) {
      mask.words[w] = count >= 64 ? ~0ULL : (1ULL << count) - 1;
      count -= count >= 64 ? 64 : count;
    }
    return mask;
  }

  void set(std::uint32_t core) noexcept { words[core / 64] |= 1ULL << (core % 64); }
  void clear(std::uint32_t core) noexcept { words[core / 64] &= ~(1ULL << (core % 64)); }
  [[nodiscard]] bool test(std::uint32_t core) const noexcept {
    return ((words[core / 64] >> (core % 64)) & 1) != 0;
  }
  [[nodiscard]] bool empty() const noexcept {
    return (words[0] | words[1] | words[2] | words[3]) == 0;
  }
  [[nodiscard]] std::uint32_t count() const noexcept {
    std::uint32_t sum = 0;
    for (std::uint64_t word : words) sum += static_cast<std::uint32_t>(std::popcount(word));
    return sum;
  }
  // Undefined for an empty mask.
  [[nodiscard]] std::uint32_t lowest() const noexcept {
    std::uint32_t w = 0;
    while (words[w] == 0) ++w;
    return w * 64 + static_cast<std::uint32_t>(std::countr_zero(words[w]));
  }

  CoreMask& operator|=(const CoreMask& other) noexcept {
    for (std::size_t w = 0; w < words.size(); ++w) words[w] |= other.words[w];
    return *this;
  }
  friend CoreMask operator&(CoreMask a, const CoreMask& b) noexcept {
    for (std::size_t w = 0; w < a.words.size(); ++w) a.words[w] &= b.words[w];
    return a;
  }
  // The cores of `a` that are not in `b`.
  friend CoreMask operator-(CoreMask a, const CoreMask& b) noexcept {
    for (std::size_t w = 0; w < a.words.size(); ++w) a.words[w] &= ~b.words[w];
    return a;
  }

  // Calls visit(core) in ascending order.
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
