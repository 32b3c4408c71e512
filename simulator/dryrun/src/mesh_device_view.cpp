// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tt-metalium/mesh_device_view.hpp>

#include "error.hpp"

namespace tt::tt_metal::distributed {

using dryrun::fail;
using dryrun::require;

MeshDeviceView::MeshDeviceView(const MeshShape& shape, const std::vector<IDevice*>& devices)
    : shape_(shape), devices_(devices) {
  require(shape.mesh_size() == devices.size(), "Mesh shape ", shape, " has ", shape.mesh_size(),
          " places for ", devices.size(), " devices");
}

std::vector<IDevice*> MeshDeviceView::get_devices(const MeshCoordinateRange& range) const {
  std::vector<IDevice*> devices;
  for (const MeshCoordinate& coord : range) {
    devices.push_back(devices_[coord.to_linear_index(shape_)]);
  }
  return devices;
}

bool MeshDeviceView::contains(const MeshCoordinate& coord) const noexcept {
  return !empty() && MeshCoordinateRange(shape_).contains(coord);
}

IDevice* MeshDeviceView::get_device(const MeshCoordinate& coord) const {
  return contains(coord) ? devices_[coord.to_linear_index(shape_)] : nullptr;
}

MeshCoordinate MeshDeviceView::find_device(ChipId device_id) const {
  for (const MeshCoordinate& coord : MeshCoordinateRange(shape_)) {
    if (get_device(coord)->id() == device_id) return coord;
  }
  fail("Device not found in mesh: ", device_id);
}

std::size_t MeshDeviceView::num_rows() const {
  require(shape_.dims() == 2, "Mesh ", shape_, " is not 2D!");
  return shape_[0];
}

std::size_t MeshDeviceView::num_cols() const {
  require(shape_.dims() == 2, "Mesh ", shape_, " is not 2D!");
  return shape_[1];
}

namespace {

using Path = std::vector<MeshCoordinate>;

// Returns the path along the rim of the mesh, clockwise from the upper left corner.
Path rim_of(std::uint32_t rows, std::uint32_t columns) {
  Path rim;
  for (std::uint32_t x = 0; x < columns; ++x) rim.emplace_back(0u, x);
  for (std::uint32_t y = 1; y < rows; ++y) rim.emplace_back(y, columns - 1);
  for (std::uint32_t x = columns - 1; rows > 1 && x-- > 0;) rim.emplace_back(rows - 1, x);
  for (std::uint32_t y = rows - 1; columns > 1 && y-- > 1;) rim.emplace_back(y, 0u);
  return rim;
}

bool adjacent(const MeshCoordinate& a, const MeshCoordinate& b) {
  const auto distance = [](std::uint32_t p, std::uint32_t q) { return p > q ? p - q : q - p; };
  return distance(a[0], b[0]) + distance(a[1], b[1]) == 1;
}

// Searches for a path of neighbouring chips by trial. From each chip, tries right, down, left and
// up in this order, and steps back at a dead end.
class PathSearch {
 public:
  PathSearch(std::size_t length, const Shape2D& mesh, bool ring)
      : length_(length), mesh_(mesh), ring_(ring) {}

  // Returns the path. Returns an empty path if there is no path, or if the search takes too long.
  Path from(const MeshCoordinate& start) {
    path_ = {start};
    if (!extend()) path_.clear();
    return path_;
  }

 private:
  bool extend() {
    if (path_.size() == length_) return true;
    // Limits the search, because trying all paths of an 8 x 4 mesh takes too long. An existing path
    // is found after far fewer steps.
    if (++steps_ > 1'000'000) return false;
    const MeshCoordinate here = path_.back();
    for (const MeshCoordinate& next : neighbours(here)) {
      if (std::find(path_.begin(), path_.end(), next) != path_.end()) continue;
      if (ring_ && path_.size() + 1 == length_ && !adjacent(next, path_.front())) continue;
      path_.push_back(next);
      if (extend()) return true;
      path_.pop_back();
    }
    return false;
  }

  Path neighbours(const MeshCoordinate& here) const {
    Path found;
    const std::uint32_t row = here[0];
    const std::uint32_t column = here[1];
    if (column + 1 < mesh_.width()) found.emplace_back(row, column + 1);
    if (row + 1 < mesh_.height()) found.emplace_back(row + 1, column);
    if (column > 0) found.emplace_back(row, column - 1);
    if (row > 0) found.emplace_back(row - 1, column);
    return found;
  }

  const std::size_t length_;
  const Shape2D mesh_;
  const bool ring_;
  Path path_;
  std::size_t steps_ = 0;
};

}  // namespace

std::vector<MeshCoordinate> MeshDeviceView::get_line_coordinates(std::size_t length,
                                                                 const Shape2D& mesh_shape,
                                                                 const Shape2D& mesh_offset) {
  const MeshCoordinate start(static_cast<std::uint32_t>(mesh_offset.height()),
                             static_cast<std::uint32_t>(mesh_offset.width()));
  // On a mesh of eight chips, as in a T3000, a line follows the rim of the mesh.
  if (mesh_shape == Shape2D(2, 4) || mesh_shape == Shape2D(4, 2)) {
    Path rim = rim_of(static_cast<std::uint32_t>(mesh_shape.height()),
                      static_cast<std::uint32_t>(mesh_shape.width()));
    const auto first = std::find(rim.begin(), rim.end(), start);
    require(first != rim.end() && length <= rim.size(), "A line of ", length,
            " devices does not fit into the mesh");
    std::rotate(rim.begin(), first, rim.end());
    rim.resize(length, start);
    return rim;
  }
  // If a mesh is coloured like a chessboard, neighbours have different colours. So a ring has an
  // even length.
  if (length % 2 == 0) {
    Path ring = PathSearch(length, mesh_shape, true).from(start);
    if (!ring.empty()) return ring;
  }
  Path line = PathSearch(length, mesh_shape, false).from(start);
  require(!line.empty(), "A line of ", length, " devices does not fit into the mesh");
  return line;
}

}  // namespace tt::tt_metal::distributed
