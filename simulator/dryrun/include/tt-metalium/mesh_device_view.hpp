// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <tt-metalium/device.hpp>
#include <tt-metalium/mesh_coord.hpp>
#include <tt-metalium/shape2d.hpp>
#include <vector>

namespace tt::tt_metal::distributed {

// The chips of a mesh by coordinate.
class MeshDeviceView {
 public:
  // Throws unless there is one device for every coordinate of the shape.
  MeshDeviceView(const MeshShape& shape, const std::vector<IDevice*>& devices);

  [[nodiscard]] std::vector<IDevice*> get_devices(const MeshCoordinateRange& range) const;
  [[nodiscard]] std::vector<IDevice*> get_devices() const { return devices_; }
  [[nodiscard]] std::size_t num_devices() const { return devices_.size(); }
  [[nodiscard]] bool empty() const noexcept { return devices_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return devices_.size(); }
  [[nodiscard]] const MeshShape& shape() const noexcept { return shape_; }
  [[nodiscard]] bool contains(const MeshCoordinate& coord) const noexcept;
  // Returns null outside the mesh.
  [[nodiscard]] IDevice* get_device(const MeshCoordinate& coord) const;
  // Throws if the chip is not in the mesh.
  [[nodiscard]] MeshCoordinate find_device(ChipId device_id) const;

  // The following functions throw unless the mesh has two dimensions.
  [[nodiscard]] std::size_t num_rows() const;
  [[nodiscard]] std::size_t num_cols() const;

  // Returns a path of `length` chips from the offset on. Each chip is a neighbour of the chip
  // before it. If possible, the last chip is also a neighbour of the first, so that the path is a
  // ring.
  [[nodiscard]] static std::vector<MeshCoordinate> get_line_coordinates(std::size_t length,
                                                                        const Shape2D& mesh_shape,
                                                                        const Shape2D& mesh_offset);

 private:
  MeshShape shape_;
  std::vector<IDevice*> devices_;
};

}  // namespace tt::tt_metal::distributed
