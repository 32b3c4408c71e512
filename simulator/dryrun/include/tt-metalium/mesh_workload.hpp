// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/mesh_buffer.hpp>
#include <tt-metalium/mesh_coord.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <unordered_map>

namespace tt::tt_metal::distributed {

class MeshCommandQueue;
class MeshWorkload;
class MeshWorkloadImpl;

void EnqueueMeshWorkload(MeshCommandQueue& mesh_cq, MeshWorkload& mesh_workload, bool blocking);

// Programs, each with the chips of the mesh on which it runs.
class MeshWorkload {
 public:
  MeshWorkload();
  ~MeshWorkload();
  MeshWorkload(MeshWorkload&& other) noexcept;
  MeshWorkload& operator=(MeshWorkload&& other) noexcept;

  // Throws if the range overlaps the range of another program, or if the workload has run.
  void add_program(const MeshCoordinateRange& device_range, Program&& program);
  std::unordered_map<MeshCoordinateRange, Program>& get_programs();
  const std::unordered_map<MeshCoordinateRange, Program>& get_programs() const;

  MeshWorkloadImpl& impl() { return *pimpl_; }

 private:
  std::unique_ptr<MeshWorkloadImpl> pimpl_;
};

}  // namespace tt::tt_metal::distributed
