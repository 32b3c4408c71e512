// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <map>
#include <tt-metalium/core_coord.hpp>
#include <utility>

#include "error.hpp"

namespace tt::tt_metal {

using dryrun::fail;
using dryrun::require;

CoreRange::CoreRange(const CoreCoord& start, const CoreCoord& end)
    : start_coord(start), end_coord(end) {
  require(end.x >= start.x && end.y >= start.y, "Invalid core range for start_coord: ", start.str(),
          ", end_coord: ", end.str());
}

bool CoreRange::intersects(const CoreRange& other) const {
  return start_coord.x <= other.end_coord.x && other.start_coord.x <= end_coord.x &&
         start_coord.y <= other.end_coord.y && other.start_coord.y <= end_coord.y;
}

std::optional<CoreRange> CoreRange::intersection(const CoreRange& other) const {
  if (!intersects(other)) return std::nullopt;
  return CoreRange(
      {std::max(start_coord.x, other.start_coord.x), std::max(start_coord.y, other.start_coord.y)},
      {std::min(end_coord.x, other.end_coord.x), std::min(end_coord.y, other.end_coord.y)});
}

bool CoreRange::adjacent(const CoreRange& other) const {
  const auto touch = [](std::size_t a_start, std::size_t a_end, std::size_t b_start,
                        std::size_t b_end) { return a_end + 1 == b_start || b_end + 1 == a_start; };
  const auto overlap = [](std::size_t a_start, std::size_t a_end, std::size_t b_start,
                          std::size_t b_end) { return a_start <= b_end && b_start <= a_end; };
  const auto& o = other;
  return (touch(start_coord.x, end_coord.x, o.start_coord.x, o.end_coord.x) &&
          overlap(start_coord.y, end_coord.y, o.start_coord.y, o.end_coord.y)) ||
         (touch(start_coord.y, end_coord.y, o.start_coord.y, o.end_coord.y) &&
          overlap(start_coord.x, end_coord.x, o.start_coord.x, o.end_coord.x));
}

bool CoreRange::contains(const CoreCoord& core) const { return contains(CoreRange(core)); }

bool CoreRange::contains(const CoreRange& other) const {
  return start_coord.x <= other.start_coord.x && other.end_coord.x <= end_coord.x &&
         start_coord.y <= other.start_coord.y && other.end_coord.y <= end_coord.y;
}

bool CoreRange::contains(const CoreRangeSet& other) const {
  return std::all_of(other.ranges().begin(), other.ranges().end(),
                     [this](const CoreRange& range) { return contains(range); });
}

std::optional<CoreRange> CoreRange::merge(const CoreRange& other) const {
  if (!intersects(other) && !adjacent(other)) return std::nullopt;
  const bool same_columns =
      start_coord.x == other.start_coord.x && end_coord.x == other.end_coord.x;
  const bool same_rows = start_coord.y == other.start_coord.y && end_coord.y == other.end_coord.y;
  if (!same_columns && !same_rows) return std::nullopt;
  return CoreRange(
      {std::min(start_coord.x, other.start_coord.x), std::min(start_coord.y, other.start_coord.y)},
      {std::max(end_coord.x, other.end_coord.x), std::max(end_coord.y, other.end_coord.y)});
}

std::string CoreRange::str() const {
  return "[" + start_coord.str() + " - " + end_coord.str() + "]";
}

std::size_t CoreRange::size() const { return grid_size().x * grid_size().y; }

CoreCoord CoreRange::grid_size() const {
  return {end_coord.x - start_coord.x + 1, end_coord.y - start_coord.y + 1};
}

CoreRange::CoreIterator& CoreRange::CoreIterator::operator++() {
  if (current_.x == range_->end_coord.x) {
    current_ = {range_->start_coord.x, current_.y + 1};
  } else {
    ++current_.x;
  }
  return *this;
}

namespace {

// Returns the runs of cores in one row, as [first column, last column].
std::vector<std::pair<std::size_t, std::size_t>> runs_in_row(const std::set<CoreRange>& ranges,
                                                             std::size_t y) {
  std::set<std::size_t> columns;
  for (const CoreRange& range : ranges) {
    if (y < range.start_coord.y || y > range.end_coord.y) continue;
    for (std::size_t x = range.start_coord.x; x <= range.end_coord.x; ++x) columns.insert(x);
  }
  std::vector<std::pair<std::size_t, std::size_t>> runs;
  for (const std::size_t x : columns) {
    if (!runs.empty() && runs.back().second + 1 == x) {
      runs.back().second = x;
    } else {
      runs.emplace_back(x, x);
    }
  }
  return runs;
}

CoreRangeSet merged(const std::set<CoreRange>& ranges) {
  if (ranges.empty()) return {};
  std::size_t first_row = ranges.begin()->start_coord.y;
  std::size_t last_row = 0;
  for (const CoreRange& range : ranges) {
    first_row = std::min(first_row, range.start_coord.y);
    last_row = std::max(last_row, range.end_coord.y);
  }

  std::set<CoreRange> done;
  // The rectangles that end at row y - 1 and may still grow. The key is the run of columns.
  std::map<std::pair<std::size_t, std::size_t>, CoreRange> open;
  for (std::size_t y = first_row; y <= last_row; ++y) {
    std::map<std::pair<std::size_t, std::size_t>, CoreRange> still_open;
    for (const auto& run : runs_in_row(ranges, y)) {
      const auto above = open.find(run);
      const std::size_t top = above == open.end() ? y : above->second.start_coord.y;
      if (above != open.end()) open.erase(above);
      still_open.emplace(run, CoreRange({run.first, top}, {run.second, y}));
    }
    for (const auto& [run, range] : open) done.insert(range);
    open = std::move(still_open);
  }
  for (const auto& [run, range] : open) done.insert(range);
  return {done};
}

// Appends the part of `range` outside `hole`, as at most four rectangles. `hole` must lie in
// `range`.
void append_around(const CoreRange& range, const CoreRange& hole, std::vector<CoreRange>& out) {
  const auto& [start, end] = std::pair(range.start_coord, range.end_coord);
  const auto& [hole_start, hole_end] = std::pair(hole.start_coord, hole.end_coord);
  if (start.x < hole_start.x) out.emplace_back(start, CoreCoord(hole_start.x - 1, end.y));
  if (end.x > hole_end.x) out.emplace_back(CoreCoord(hole_end.x + 1, start.y), end);
  if (start.y < hole_start.y) {
    out.emplace_back(CoreCoord(hole_start.x, start.y), CoreCoord(hole_end.x, hole_start.y - 1));
  }
  if (end.y > hole_end.y) {
    out.emplace_back(CoreCoord(hole_start.x, hole_end.y + 1), CoreCoord(hole_end.x, end.y));
  }
}

}  // namespace

CoreRangeSet::CoreRangeSet(ttsl::Span<const CoreRange> ranges)
    : ranges_(ranges.begin(), ranges.end()) {
  validate_no_overlap();
}

CoreRangeSet::CoreRangeSet(const std::set<CoreRange>& ranges)
    : ranges_(ranges.begin(), ranges.end()) {
  validate_no_overlap();
}

CoreRangeSet::CoreRangeSet(std::vector<CoreRange>&& ranges) : ranges_(std::move(ranges)) {
  validate_no_overlap();
}

CoreRangeSet::CoreRangeSet(ttsl::Span<const CoreCoord> cores) {
  std::vector<CoreRange> single(cores.begin(), cores.end());
  *this = CoreRangeSet(std::move(single)).merge_ranges();
}

void CoreRangeSet::validate_no_overlap() const {
  for (auto a = ranges_.begin(); a != ranges_.end(); ++a) {
    for (auto b = std::next(a); b != ranges_.end(); ++b) {
      require(!a->intersects(*b),
              "Cannot create CoreRangeSet with specified core ranges because core ranges ",
              a->str(), " and ", b->str(), " overlap!");
    }
  }
}

std::uint32_t CoreRangeSet::num_cores() const {
  std::size_t cores = 0;
  for (const CoreRange& range : ranges_) cores += range.size();
  return static_cast<std::uint32_t>(cores);
}

CoreRange CoreRangeSet::bounding_box() const {
  require(!ranges_.empty(), "Cannot get bounding_box of an empty CoreRangeSet!");
  CoreRange box = ranges_.front();
  for (const CoreRange& range : ranges_) {
    box.start_coord.x = std::min(box.start_coord.x, range.start_coord.x);
    box.start_coord.y = std::min(box.start_coord.y, range.start_coord.y);
    box.end_coord.x = std::max(box.end_coord.x, range.end_coord.x);
    box.end_coord.y = std::max(box.end_coord.y, range.end_coord.y);
  }
  return box;
}

bool CoreRangeSet::intersects(const CoreRange& range) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const CoreRange& own) { return own.intersects(range); });
}

bool CoreRangeSet::intersects(const CoreRangeSet& other) const {
  return std::any_of(other.ranges_.begin(), other.ranges_.end(),
                     [&](const CoreRange& range) { return intersects(range); });
}

CoreRangeSet CoreRangeSet::intersection(const CoreRangeSet& other) const {
  std::vector<CoreRange> common;
  for (const CoreRange& own : ranges_) {
    for (const CoreRange& range : other.ranges_) {
      if (const auto both = own.intersection(range)) common.push_back(*both);
    }
  }
  return {std::move(common)};
}

bool CoreRangeSet::contains(const CoreCoord& core) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const CoreRange& own) { return own.contains(core); });
}

bool CoreRangeSet::contains(const CoreRange& range) const { return contains(CoreRangeSet(range)); }

bool CoreRangeSet::contains(const CoreRangeSet& other) const {
  // The ranges of one set do not overlap, so the intersection has every common core once.
  return intersection(other).num_cores() == other.num_cores();
}

template <>
CoreRangeSet CoreRangeSet::merge<std::vector<CoreRange>>(
    const std::vector<CoreRange>& other) const {
  std::set<CoreRange> all(ranges_.begin(), ranges_.end());
  all.insert(other.begin(), other.end());
  return merged(all);
}

template <>
CoreRangeSet CoreRangeSet::merge<std::set<CoreRange>>(const std::set<CoreRange>& other) const {
  return merge(std::vector<CoreRange>(other.begin(), other.end()));
}

template <>
CoreRangeSet CoreRangeSet::merge<CoreRangeSet>(const CoreRangeSet& other) const {
  return merge(other.ranges_);
}

CoreRangeSet CoreRangeSet::merge_ranges() const {
  return ranges_.size() <= 1 ? *this : CoreRangeSet().merge(ranges_);
}

CoreRangeSet CoreRangeSet::subtract(const CoreRangeSet& other) const {
  std::vector<CoreRange> rest = merge_ranges().ranges_;
  for (const CoreRange& taken : other.ranges_) {
    std::vector<CoreRange> next;
    for (const CoreRange& range : rest) {
      if (const auto hole = range.intersection(taken)) {
        append_around(range, *hole, next);
      } else {
        next.push_back(range);
      }
    }
    rest = std::move(next);
  }
  return {std::move(rest)};
}

std::string CoreRangeSet::str() const {
  std::string text = "{";
  for (const CoreRange& range : ranges_) text += (text.size() > 1 ? ", " : "") + range.str();
  return text + "}";
}

std::vector<CoreCoord> grid_to_cores(std::uint32_t num_cores, std::uint32_t grid_size_x,
                                     std::uint32_t grid_size_y, bool row_wise) {
  require(num_cores <= grid_size_x * grid_size_y, "Number of cores ", num_cores,
          " exceeds grid size ", grid_size_x, "x", grid_size_y);
  std::vector<CoreCoord> cores;
  for (std::uint32_t i = 0; i < num_cores; ++i) {
    cores.push_back(row_wise ? CoreCoord(i % grid_size_x, i / grid_size_x)
                             : CoreCoord(i / grid_size_y, i % grid_size_y));
  }
  return cores;
}

std::vector<CoreCoord> grid_to_cores(CoreCoord start, CoreCoord end, bool row_wise) {
  const CoreRange range(start, end);
  std::vector<CoreCoord> cores;
  for (const CoreCoord& core : range) cores.push_back(core);
  // Coordinates compare by x first, so sorting puts the cores in order column by column.
  if (!row_wise) std::sort(cores.begin(), cores.end());
  return cores;
}

std::vector<CoreCoord> corerange_to_cores(const CoreRangeSet& crs,
                                          std::optional<std::uint32_t> max_cores, bool row_wise) {
  std::vector<CoreCoord> cores;
  for (const CoreRange& range : crs.ranges()) {
    const auto more = grid_to_cores(range.start_coord, range.end_coord, row_wise);
    cores.insert(cores.end(), more.begin(), more.end());
  }
  if (max_cores && cores.size() > *max_cores) cores.resize(*max_cores);
  return cores;
}

}  // namespace tt::tt_metal

std::size_t std::hash<tt::tt_metal::CoreRange>::operator()(
    const tt::tt_metal::CoreRange& range) const noexcept {
  const std::hash<tt_xy_pair> of_core;
  return of_core(range.start_coord) * 31 + of_core(range.end_coord);
}

std::size_t std::hash<tt::tt_metal::CoreRangeSet>::operator()(
    const tt::tt_metal::CoreRangeSet& set) const noexcept {
  std::size_t seed = 0;
  for (const auto& range : set.ranges()) {
    seed = seed * 31 + std::hash<tt::tt_metal::CoreRange>{}(range);
  }
  return seed;
}
