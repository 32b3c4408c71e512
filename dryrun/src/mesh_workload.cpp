// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "error.hpp"
#include "mesh_workload_impl.hpp"
#include "program_impl.hpp"

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
  std::vector<std::pair<detail::ProgramImpl*, std::shared_ptr<const dryrun::CbLayout>>> placements;
  for (auto& [range, program] : programs_) {
    placements.emplace_back(&program.impl(), program.impl().layout_for(mesh_device));
  }
  if (placements.size() == 1 || finalized_) {
    for (auto& [program, layout] : placements) program->place(mesh_device, layout);
  } else {
    for (auto& placement : placements) {
      mesh_device.enqueue_to_thread_pool(
          [&] { placement.first->place(mesh_device, placement.second); });
    }
    mesh_device.wait_for_thread_pool();
  }
  for (const auto& [program, layout] : placements) program->check_for_clash(mesh_device, *layout);
  finalized_ = true;
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
