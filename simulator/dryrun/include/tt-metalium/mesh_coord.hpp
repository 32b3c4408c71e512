// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <ostream>
#include <tt_stl/span.hpp>

namespace tt::tt_metal::distributed {

// The maximum number of dimensions of a mesh. The constructors of shapes and coordinates throw for
// more dimensions.
inline constexpr std::size_t kMaxMeshDims = 4;

// The size of a mesh of chips in each dimension, outermost dimension first; usually rows and
// columns.
class MeshShape {
 public:
  explicit MeshShape(std::uint32_t s) : dims_(1), sizes_{s} {}
  MeshShape(std::uint32_t s0, std::uint32_t s1) : dims_(2), sizes_{s0, s1} {}
  MeshShape(std::uint32_t s0, std::uint32_t s1, std::uint32_t s2) : dims_(3), sizes_{s0, s1, s2} {}
  explicit MeshShape(std::initializer_list<std::uint32_t> sizes)
      : MeshShape(ttsl::Span<const std::uint32_t>(sizes.begin(), sizes.size())) {}
  explicit MeshShape(ttsl::Span<const std::uint32_t> sizes);

  std::size_t dims() const { return dims_; }
  // Throws std::out_of_range. A negative index counts from the end.
  std::uint32_t operator[](std::int32_t dim) const;
  std::size_t mesh_size() const;
  // Returns true if at most one dimension is longer than one.
  bool is_line_topology() const;

  const std::uint32_t* cbegin() const { return sizes_.data(); }
  const std::uint32_t* cend() const { return sizes_.data() + dims_; }

  friend bool operator==(const MeshShape&, const MeshShape&) = default;

 private:
  std::size_t dims_;
  std::array<std::uint32_t, kMaxMeshDims> sizes_{};
};

std::ostream& operator<<(std::ostream& os, const MeshShape& shape);

// The position of a chip in a mesh. Ordered like the chips of a mesh: the last dimension varies
// fastest.
class MeshCoordinate {
 public:
  explicit MeshCoordinate(std::uint32_t c) : dims_(1), value_{c} {}
  MeshCoordinate(std::uint32_t c0, std::uint32_t c1) : dims_(2), value_{c0, c1} {}
  MeshCoordinate(std::uint32_t c0, std::uint32_t c1, std::uint32_t c2)
      : dims_(3), value_{c0, c1, c2} {}
  explicit MeshCoordinate(ttsl::Span<const std::uint32_t> coords);

  static MeshCoordinate zero_coordinate(std::size_t dimensions);

  std::size_t dims() const { return dims_; }
  ttsl::Span<const std::uint32_t> coords() const { return {value_.data(), dims_}; }
  // Throws std::out_of_range. A negative index counts from the end.
  std::uint32_t operator[](std::int32_t dim) const;
  std::uint32_t& operator[](std::int32_t dim);

  // Throws if the coordinate is outside the shape.
  std::size_t to_linear_index(const MeshShape& shape) const;

  friend auto operator<=>(const MeshCoordinate&, const MeshCoordinate&) = default;

 private:
  std::size_t dims_;
  std::array<std::uint32_t, kMaxMeshDims> value_{};
};

std::ostream& operator<<(std::ostream& os, const MeshCoordinate& coord);

// A box of coordinates that includes both corners. Throws if the end lies before the start.
class MeshCoordinateRange {
 public:
  MeshCoordinateRange(const MeshCoordinate& start, const MeshCoordinate& end);
  // Makes the range of the whole mesh.
  explicit MeshCoordinateRange(const MeshShape& shape);
  explicit MeshCoordinateRange(const MeshCoordinate& coord) : start_(coord), end_(coord) {}

  std::size_t dims() const { return start_.dims(); }
  const MeshCoordinate& start_coord() const { return start_; }
  const MeshCoordinate& end_coord() const { return end_; }
  MeshShape shape() const;
  bool contains(const MeshCoordinate& coord) const;
  bool contains(const MeshCoordinateRange& range) const;
  bool intersects(const MeshCoordinateRange& range) const;
  std::optional<MeshCoordinateRange> intersection(const MeshCoordinateRange& range) const;

  // Iterates over the coordinates in order.
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = MeshCoordinate;
    using difference_type = std::ptrdiff_t;
    using pointer = const MeshCoordinate*;
    using reference = const MeshCoordinate&;

    Iterator() : current_(MeshCoordinate::zero_coordinate(0)) {}
    Iterator& operator++();
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    const MeshCoordinate& operator*() const { return current_; }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    friend class MeshCoordinateRange;
    Iterator(const MeshCoordinateRange* range, std::size_t index)
        : range_(range), current_(range->start_), index_(index) {}

    const MeshCoordinateRange* range_ = nullptr;
    MeshCoordinate current_;
    std::size_t index_ = 0;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, shape().mesh_size()}; }

  friend auto operator<=>(const MeshCoordinateRange&, const MeshCoordinateRange&) = default;

 private:
  MeshCoordinate start_;
  MeshCoordinate end_;
};

std::ostream& operator<<(std::ostream& os, const MeshCoordinateRange& range);

}  // namespace tt::tt_metal::distributed

template <>
struct std::hash<tt::tt_metal::distributed::MeshCoordinate> {
  std::size_t operator()(const tt::tt_metal::distributed::MeshCoordinate& coord) const noexcept;
};
template <>
struct std::hash<tt::tt_metal::distributed::MeshCoordinateRange> {
  std::size_t operator()(
      const tt::tt_metal::distributed::MeshCoordinateRange& range) const noexcept;
};
