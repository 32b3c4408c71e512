// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tt-metalium/mesh_coord.hpp>

namespace tt::tt_metal::distributed {

// The chips of the machine and their arrangement.
class SystemMesh {
 public:
  static SystemMesh& instance();

  MeshShape shape() const;

 private:
  SystemMesh() = default;
};

}  // namespace tt::tt_metal::distributed
