// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <tt_stl/span.hpp>
#include <vector>

namespace tt::tt_metal {

// The size of a tensor in each dimension, outermost dimension first. A negative index counts from
// the end.
class Shape {
 public:
  Shape() = default;
  explicit Shape(std::initializer_list<std::uint32_t> sizes) : sizes_(sizes) {}
  // Accepts an array or a vector too.
  explicit Shape(ttsl::Span<const std::uint32_t> sizes) : sizes_(sizes.begin(), sizes.end()) {}

  [[nodiscard]] std::size_t rank() const { return sizes_.size(); }
  [[nodiscard]] std::size_t size() const { return sizes_.size(); }
  [[nodiscard]] bool empty() const { return sizes_.empty(); }
  // Returns the number of elements. A shape without dimensions has one element.
  [[nodiscard]] std::uint64_t volume() const;

  // Throws std::out_of_range.
  std::uint32_t operator[](std::int32_t index) const { return sizes_.at(position(index)); }
  std::uint32_t& operator[](std::int32_t index) { return sizes_.at(position(index)); }

  [[nodiscard]] ttsl::Span<const std::uint32_t> view() const { return sizes_; }
  [[nodiscard]] auto begin() const { return sizes_.begin(); }
  [[nodiscard]] auto end() const { return sizes_.end(); }
  [[nodiscard]] auto cbegin() const { return sizes_.cbegin(); }
  [[nodiscard]] auto cend() const { return sizes_.cend(); }

  bool operator==(const Shape& other) const = default;

 private:
  [[nodiscard]] std::size_t position(std::int32_t index) const {
    return static_cast<std::size_t>(index < 0 ? static_cast<std::int64_t>(rank()) + index : index);
  }

  std::vector<std::uint32_t> sizes_;
};

}  // namespace tt::tt_metal
