// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tt-metalium/mesh_coord.hpp>

namespace tt::tt_metal::distributed {

class MeshDevice;

class MeshEvent {
 public:
  MeshEvent(std::uint32_t id, MeshDevice* device, std::uint32_t mesh_cq_id,
            const MeshCoordinateRange& device_range)
      : id_(id), device_(device), mesh_cq_id_(mesh_cq_id), device_range_(device_range) {}

  std::uint32_t id() const { return id_; }
  MeshDevice* device() const { return device_; }
  std::uint32_t mesh_cq_id() const { return mesh_cq_id_; }
  const MeshCoordinateRange& device_range() const { return device_range_; }

 private:
  std::uint32_t id_;
  MeshDevice* device_;
  std::uint32_t mesh_cq_id_;
  MeshCoordinateRange device_range_;
};

}  // namespace tt::tt_metal::distributed
