// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tt::tt_metal {

class Shape2D final {
 public:
  Shape2D(std::size_t height, std::size_t width) : height_(height), width_(width) {}
  Shape2D(const std::pair<std::size_t, std::size_t>& size) : Shape2D(size.first, size.second) {}
  Shape2D(const std::array<std::size_t, 2>& size) : Shape2D(size[0], size[1]) {}
  Shape2D(const std::array<std::uint32_t, 2>& size) : Shape2D(size[0], size[1]) {}

  [[nodiscard]] std::size_t height() const { return height_; }
  [[nodiscard]] std::size_t width() const { return width_; }

  bool operator==(const Shape2D& other) const = default;

  // For structured bindings: height, then width.
  template <std::size_t I>
  std::size_t get() const {
    static_assert(I < 2);
    return I == 0 ? height_ : width_;
  }

 private:
  std::size_t height_;
  std::size_t width_;
};

}  // namespace tt::tt_metal

template <>
struct std::tuple_size<tt::tt_metal::Shape2D> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I>
struct std::tuple_element<I, tt::tt_metal::Shape2D> {
  using type = std::size_t;
};
