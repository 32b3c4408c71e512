// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <utility>
#include <vector>

#include "error.hpp"
#include "impl/program/program_impl.hpp"
#include "mesh_workload_impl.hpp"

namespace tt::tt_metal::distributed {

using dryrun::require;

void MeshWorkloadImpl::add_program(const MeshCoordinateRange& device_range, Program&& program) {
  require(!finalized_, "Cannot add programs to a MeshWorkload after it has been finalized.");
  for (const auto& [range, other] : programs_) {
    require(!range.intersects(device_range), "Program range ", device_range,
            " overlaps with the previously added range ", range);
  }
  programs_[device_range] = std::move(program);
}

void MeshWorkloadImpl::compile(MeshDevice& mesh_device) {
  if (programs_.size() == 1 || finalized_) {
    for (auto& [range, program] : programs_) {
      program.impl().compile_and_allocate(&mesh_device, false);
    }
  } else {
    for (auto& [range, program] : programs_) {
      mesh_device.enqueue_to_thread_pool([&mesh_device, &placed = program] {
        placed.impl().compile_and_allocate(&mesh_device, false);
      });
    }
    mesh_device.wait_for_thread_pool();
  }
  finalized_ = true;
}

void MeshWorkloadImpl::check_sub_device(const MeshDevice& mesh_device) const {
  std::set<SubDeviceId> used;
  for (const auto& [range, program] : programs_) {
    const auto ids = program.impl().determine_sub_device_ids(mesh_device);
    used.insert(ids.begin(), ids.end());
  }
  require(used.size() == 1, "Programs must be executed on a single sub-device");
}

MeshWorkload::MeshWorkload() : pimpl_(std::make_unique<MeshWorkloadImpl>()) {}
MeshWorkload::~MeshWorkload() = default;
MeshWorkload::MeshWorkload(MeshWorkload&& other) noexcept = default;
MeshWorkload& MeshWorkload::operator=(MeshWorkload&& other) noexcept = default;

void MeshWorkload::add_program(const MeshCoordinateRange& device_range, Program&& program) {
  pimpl_->add_program(device_range, std::move(program));
}
std::unordered_map<MeshCoordinateRange, Program>& MeshWorkload::get_programs() {
  return pimpl_->get_programs();
}
const std::unordered_map<MeshCoordinateRange, Program>& MeshWorkload::get_programs() const {
  return pimpl_->get_programs();
}

}  // namespace tt::tt_metal::distributed
