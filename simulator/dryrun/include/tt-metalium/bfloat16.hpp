// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

// The upper half of a float. A conversion from an arithmetic type rounds to the nearest value. If
// two values are equally near, it rounds to the even value.
class bfloat16 {
 public:
  constexpr bfloat16() = default;

  template <typename T>
  requires std::is_arithmetic_v<T>
  constexpr bfloat16(T value) noexcept : bits_(round(static_cast<float>(value))) {}

  constexpr operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16);
  }

  constexpr bool operator==(bfloat16 other) const {
    return static_cast<float>(*this) == static_cast<float>(other);
  }

 private:
  static constexpr std::uint16_t round(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    // A NaN stays a NaN.
    if (value != value) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
    return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
  }

  std::uint16_t bits_ = 0;
};
