// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace tt::tt_metal {

// The sizes of an n-dimensional tensor, outermost first. A negative index counts from the end.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::uint32_t> sizes) : sizes_(sizes) {}
  explicit Shape(std::vector<std::uint32_t> sizes) : sizes_(std::move(sizes)) {}

  [[nodiscard]] std::size_t rank() const { return sizes_.size(); }
  // Of no dimensions: 1.
  [[nodiscard]] std::uint64_t volume() const;

  // Throws std::out_of_range.
  std::uint32_t operator[](std::int32_t index) const { return sizes_.at(position(index)); }
  std::uint32_t& operator[](std::int32_t index) { return sizes_.at(position(index)); }

  bool operator==(const Shape& other) const = default;

 private:
  [[nodiscard]] std::size_t position(std::int32_t index) const {
    return static_cast<std::size_t>(index < 0 ? static_cast<std::int64_t>(rank()) + index : index);
  }

  std::vector<std::uint32_t> sizes_;
};

}  // namespace tt::tt_metal
