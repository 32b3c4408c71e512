// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tt-metalium/mesh_command_queue.hpp>

namespace tt::tt_metal::distributed {

// The class of all queues in the dry run. TT-Metal uses this class for fast dispatch, and the dry
// run always uses fast dispatch.
class FDMeshCommandQueue final : public MeshCommandQueue {
 public:
  FDMeshCommandQueue(MeshDevice* mesh_device, std::uint32_t id)
      : MeshCommandQueue(mesh_device, id) {}

  void enqueue_mesh_workload(MeshWorkload& mesh_workload, bool blocking) override;
};

}  // namespace tt::tt_metal::distributed
