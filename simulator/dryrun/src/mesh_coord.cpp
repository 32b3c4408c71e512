// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <tt-metalium/mesh_coord.hpp>

#include "error.hpp"

namespace tt::tt_metal::distributed {

using dryrun::require;

namespace {

std::size_t position(std::int32_t dim, std::size_t dims) {
  const auto index =
      static_cast<std::size_t>(dim < 0 ? static_cast<std::int64_t>(dims) + dim : dim);
  if (index >= dims) throw std::out_of_range("mesh dimension out of range");
  return index;
}

std::size_t checked_dims(std::size_t dims) {
  require(dims <= kMaxMeshDims, "A mesh has at most ", kMaxMeshDims, " dimensions, not ", dims);
  return dims;
}

}  // namespace

MeshShape::MeshShape(ttsl::Span<const std::uint32_t> sizes) : dims_(checked_dims(sizes.size())) {
  std::copy(sizes.begin(), sizes.end(), sizes_.begin());
}

std::uint32_t MeshShape::operator[](std::int32_t dim) const {
  return sizes_[position(dim, dims())];
}

std::size_t MeshShape::mesh_size() const {
  return std::accumulate(cbegin(), cend(), std::size_t{dims_ == 0 ? 0u : 1u}, std::multiplies<>());
}

bool MeshShape::is_line_topology() const {
  return std::count_if(cbegin(), cend(), [](std::uint32_t size) { return size != 1; }) <= 1;
}

std::ostream& operator<<(std::ostream& os, const MeshShape& shape) {
  os << "MeshShape([";
  for (std::size_t dim = 0; dim < shape.dims(); ++dim) {
    os << (dim == 0 ? "" : ", ") << shape[static_cast<std::int32_t>(dim)];
  }
  return os << "])";
}

MeshCoordinate::MeshCoordinate(ttsl::Span<const std::uint32_t> coords)
    : dims_(checked_dims(coords.size())) {
  std::copy(coords.begin(), coords.end(), value_.begin());
}

MeshCoordinate MeshCoordinate::zero_coordinate(std::size_t dimensions) {
  constexpr std::array<std::uint32_t, kMaxMeshDims> kZeros{};
  return MeshCoordinate(ttsl::Span<const std::uint32_t>(kZeros.data(), checked_dims(dimensions)));
}

std::uint32_t MeshCoordinate::operator[](std::int32_t dim) const {
  return value_[position(dim, dims())];
}

std::uint32_t& MeshCoordinate::operator[](std::int32_t dim) {
  return value_[position(dim, dims())];
}

std::size_t MeshCoordinate::to_linear_index(const MeshShape& shape) const {
  require(dims() == shape.dims(), "Coordinate ", *this, " and shape ", shape,
          " have different numbers of dimensions");
  std::size_t index = 0;
  for (std::size_t dim = 0; dim < dims(); ++dim) {
    const std::uint32_t size = shape[static_cast<std::int32_t>(dim)];
    require(value_[dim] < size, "Coordinate ", *this, " is out of bounds of ", shape);
    index = index * size + value_[dim];
  }
  return index;
}

std::ostream& operator<<(std::ostream& os, const MeshCoordinate& coord) {
  os << "MeshCoordinate([";
  for (std::size_t dim = 0; dim < coord.dims(); ++dim) {
    os << (dim == 0 ? "" : ", ") << coord.coords()[dim];
  }
  return os << "])";
}

MeshCoordinateRange::MeshCoordinateRange(const MeshCoordinate& start, const MeshCoordinate& end)
    : start_(start), end_(end) {
  require(start.dims() == end.dims(), "Start ", start, " and end ", end,
          " have different numbers of dimensions");
  for (std::size_t dim = 0; dim < start.dims(); ++dim) {
    require(start.coords()[dim] <= end.coords()[dim], "Start ", start, " lies behind end ", end);
  }
}

MeshCoordinateRange::MeshCoordinateRange(const MeshShape& shape)
    : start_(MeshCoordinate::zero_coordinate(shape.dims())), end_(start_) {
  require(shape.mesh_size() > 0, "A range needs a shape without zeros, not ", shape);
  for (std::int32_t dim = 0; dim < static_cast<std::int32_t>(shape.dims()); ++dim) {
    end_[dim] = shape[dim] - 1;
  }
}

MeshShape MeshCoordinateRange::shape() const {
  std::array<std::uint32_t, kMaxMeshDims> sizes{};
  for (std::size_t dim = 0; dim < dims(); ++dim) {
    sizes[dim] = end_.coords()[dim] - start_.coords()[dim] + 1;
  }
  return MeshShape(ttsl::Span<const std::uint32_t>(sizes.data(), dims()));
}

bool MeshCoordinateRange::contains(const MeshCoordinate& coord) const {
  return contains(MeshCoordinateRange(coord));
}

bool MeshCoordinateRange::contains(const MeshCoordinateRange& range) const {
  const auto common = intersection(range);
  return common && *common == range;
}

bool MeshCoordinateRange::intersects(const MeshCoordinateRange& range) const {
  return intersection(range).has_value();
}

std::optional<MeshCoordinateRange> MeshCoordinateRange::intersection(
    const MeshCoordinateRange& range) const {
  if (dims() != range.dims()) return std::nullopt;
  MeshCoordinate start = start_;
  MeshCoordinate end = end_;
  for (std::int32_t dim = 0; dim < static_cast<std::int32_t>(dims()); ++dim) {
    start[dim] = std::max(start[dim], range.start_.coords()[static_cast<std::size_t>(dim)]);
    end[dim] = std::min(end[dim], range.end_.coords()[static_cast<std::size_t>(dim)]);
    if (start[dim] > end[dim]) return std::nullopt;
  }
  return MeshCoordinateRange(start, end);
}

MeshCoordinateRange::Iterator& MeshCoordinateRange::Iterator::operator++() {
  ++index_;
  for (auto dim = static_cast<std::int32_t>(current_.dims()) - 1; dim >= 0; --dim) {
    if (current_[dim] < range_->end_.coords()[static_cast<std::size_t>(dim)]) {
      ++current_[dim];
      break;
    }
    current_[dim] = range_->start_.coords()[static_cast<std::size_t>(dim)];
  }
  return *this;
}

std::ostream& operator<<(std::ostream& os, const MeshCoordinateRange& range) {
  return os << "MeshCoordinateRange(start=" << range.start_coord() << ", end=" << range.end_coord()
            << ")";
}

}  // namespace tt::tt_metal::distributed

std::size_t std::hash<tt::tt_metal::distributed::MeshCoordinate>::operator()(
    const tt::tt_metal::distributed::MeshCoordinate& coord) const noexcept {
  std::size_t seed = coord.dims();
  for (const std::uint32_t each : coord.coords()) seed = seed * 1000003 + each;
  return seed;
}

std::size_t std::hash<tt::tt_metal::distributed::MeshCoordinateRange>::operator()(
    const tt::tt_metal::distributed::MeshCoordinateRange& range) const noexcept {
  const std::hash<tt::tt_metal::distributed::MeshCoordinate> of_coord;
  return of_coord(range.start_coord()) * 31 + of_coord(range.end_coord());
}
