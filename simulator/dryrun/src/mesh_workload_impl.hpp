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

  // Places all programs on the mesh, even if some of them do not fit. If there are several
  // programs, the worker threads of the mesh place them in the first call. Throws like
  // EnqueueMeshWorkload.
  void compile(MeshDevice& mesh_device);

  // Throws if the programs do not all run on the same sub-device. Never throws for the default
  // manager, which has only one sub-device.
  void check_sub_device(const MeshDevice& mesh_device) const;

 private:
  std::unordered_map<MeshCoordinateRange, Program> programs_;
  std::atomic<bool> finalized_{false};  // true after the first run
};

}  // namespace tt::tt_metal::distributed
