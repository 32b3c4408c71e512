// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <tt-metalium/mesh_workload.hpp>
#include <unordered_map>

namespace tt::tt_metal::distributed {

class MeshWorkloadImpl {
 public:
  void add_program(const MeshCoordinateRange& device_range, Program&& program);
  std::unordered_map<MeshCoordinateRange, Program>& get_programs() { return programs_; }

  // Places all programs on the mesh, even if one of them does not fit. The first call places them
  // on the worker threads of the mesh. Throws like EnqueueMeshWorkload.
  void compile(MeshDevice& mesh_device);

  // Throws unless all programs run on the same sub-device. With the default manager, they do.
  void check_sub_device(const MeshDevice& mesh_device) const;

 private:
  std::unordered_map<MeshCoordinateRange, Program> programs_;
  std::atomic<bool> finalized_{false};  // true after the first run
};

}  // namespace tt::tt_metal::distributed
