// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <tt_stl/span.hpp>
#include <vector>

// A coordinate. Coordinates are ordered by x, then by y.
struct tt_xy_pair {
  constexpr tt_xy_pair() = default;
  constexpr tt_xy_pair(std::size_t x_, std::size_t y_) : x(x_), y(y_) {}

  std::size_t x = 0;
  std::size_t y = 0;

  // Returns "1-2".
  std::string str() const { return std::to_string(x) + "-" + std::to_string(y); }

  friend constexpr auto operator<=>(const tt_xy_pair&, const tt_xy_pair&) = default;
};

namespace tt::tt_metal {

// A logical compute core.
using CoreCoord = tt_xy_pair;

class CoreRangeSet;

// A rectangle of cores that includes both corners.
class CoreRange {
 public:
  CoreCoord start_coord;
  CoreCoord end_coord;

  CoreRange(const CoreCoord& point) : start_coord(point), end_coord(point) {}
  // Throws if the end is left of the start or above the start.
  CoreRange(const CoreCoord& start, const CoreCoord& end);

  bool intersects(const CoreRange& other) const;
  std::optional<CoreRange> intersection(const CoreRange& other) const;
  // Returns true if the ranges touch along at least a part of an edge. Ranges that touch only at a
  // corner are not adjacent.
  bool adjacent(const CoreRange& other) const;
  bool contains(const CoreCoord& core) const;
  bool contains(const CoreRange& other) const;
  bool contains(const CoreRangeSet& other) const;
  // Returns the union of two ranges that overlap or are adjacent, if they also have the same
  // columns or the same rows. Otherwise returns nullopt, even if one range contains the other.
  std::optional<CoreRange> merge(const CoreRange& other) const;

  // Returns "[0-0 - 7-7]".
  std::string str() const;
  std::size_t size() const;
  CoreCoord grid_size() const;

  // Iterates over the cores row by row.
  class CoreIterator {
   public:
    CoreIterator(const CoreCoord& current, const CoreRange& range)
        : current_(current), range_(&range) {}
    CoreCoord& operator*() { return current_; }
    CoreIterator& operator++();
    bool operator==(const CoreIterator& other) const { return current_ == other.current_; }
    bool operator!=(const CoreIterator& other) const { return !(*this == other); }

   private:
    CoreCoord current_;
    const CoreRange* range_;
  };
  CoreIterator begin() const { return {start_coord, *this}; }
  CoreIterator end() const { return {CoreCoord(start_coord.x, end_coord.y + 1), *this}; }

  // Compares by start, then by end.
  friend constexpr auto operator<=>(const CoreRange&, const CoreRange&) = default;
};

// A set of cores as a list of rectangles in a given order. The constructors throw if rectangles
// overlap.
class CoreRangeSet {
 public:
  CoreRangeSet() = default;
  CoreRangeSet(const CoreRange& range) : ranges_{range} {}
  CoreRangeSet(ttsl::Span<const CoreRange> ranges);
  CoreRangeSet(const std::set<CoreRange>& ranges);
  CoreRangeSet(std::vector<CoreRange>&& ranges);
  // Makes a set of these cores, in the form of merge_ranges().
  CoreRangeSet(ttsl::Span<const CoreCoord> cores);

  bool empty() const { return ranges_.empty(); }
  std::size_t size() const { return ranges_.size(); }
  const std::vector<CoreRange>& ranges() const { return ranges_; }
  std::uint32_t num_cores() const;
  CoreRange bounding_box() const;

  bool intersects(const CoreCoord& core) const { return contains(core); }
  bool intersects(const CoreRange& range) const;
  bool intersects(const CoreRangeSet& other) const;
  CoreRangeSet intersection(const CoreRangeSet& other) const;
  bool contains(const CoreCoord& core) const;
  bool contains(const CoreRange& range) const;
  bool contains(const CoreRangeSet& other) const;

  // Returns the union in the form of merge_ranges(). T is a container of CoreRange, or a
  // CoreRangeSet.
  template <typename T>
  CoreRangeSet merge(const T& other) const;

  // Returns the same cores as few sorted rectangles. A run of adjacent cores in a row and the equal
  // runs directly below it become one rectangle. A set of one rectangle is returned unchanged.
  CoreRangeSet merge_ranges() const;

  // Returns the cores of this set that are not in `other`.
  CoreRangeSet subtract(const CoreRangeSet& other) const;

  std::string str() const;

  friend bool operator==(const CoreRangeSet&, const CoreRangeSet&) = default;

 private:
  void validate_no_overlap() const;

  std::vector<CoreRange> ranges_;
};

// Returns the first `num_cores` cores of a grid: column by column, or row by row if `row_wise`.
std::vector<CoreCoord> grid_to_cores(std::uint32_t num_cores, std::uint32_t grid_size_x,
                                     std::uint32_t grid_size_y, bool row_wise = false);
std::vector<CoreCoord> grid_to_cores(CoreCoord start, CoreCoord end, bool row_wise = false);

// Returns the first `max_cores` cores, or all cores by default. The ranges follow each other in
// their order.
std::vector<CoreCoord> corerange_to_cores(const CoreRangeSet& crs,
                                          std::optional<std::uint32_t> max_cores = std::nullopt,
                                          bool row_wise = false);

}  // namespace tt::tt_metal

template <>
struct std::hash<tt_xy_pair> {
  std::size_t operator()(const tt_xy_pair& core) const noexcept { return core.x << 32 ^ core.y; }
};
template <>
struct std::hash<tt::tt_metal::CoreRange> {
  std::size_t operator()(const tt::tt_metal::CoreRange& range) const noexcept;
};
template <>
struct std::hash<tt::tt_metal::CoreRangeSet> {
  std::size_t operator()(const tt::tt_metal::CoreRangeSet& set) const noexcept;
};
