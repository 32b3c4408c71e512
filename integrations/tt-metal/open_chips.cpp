// SPDX-License-Identifier: Apache-2.0
#include "open_chips.hpp"

#include <algorithm>

#include "describe.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::tt_metal {

namespace tm = ::tt::tt_metal;

void OpenChips::open(const tm::IDevice& chip) {
  const std::uint32_t number = number_of(chip);
  const OpenChip fresh{generation_ + 1, LoadedKernels(number)};
  if (!chips_.try_emplace(number, fresh).second) return;
  ++generation_;
  announce_(chip);
}

bool OpenChips::close(std::uint32_t chip) {
  if (chips_.erase(chip) == 0) return false;
  ++generation_;
  ttmem_device_close(chip);
  return true;
}

OpenMesh& OpenChips::mesh_of(const tm::IDevice& device) {
  const int id = device.id();
  if (last_.device != &device || last_.id != id) {
    last_ = {&device, id, &meshes_[{&device, id}]};
  }
  OpenMesh& mesh = *last_.mesh;
  if (mesh.generation == generation_) return mesh;
  const std::vector<tm::IDevice*> devices = chips_of(&device);
  for (const tm::IDevice* chip : devices) open(*chip);
  mesh.chips.clear();
  for (const tm::IDevice* chip : devices) mesh.chips.push_back(number_of(*chip));
  std::sort(mesh.chips.begin(), mesh.chips.end());
  mesh.open.clear();
  for (const std::uint32_t chip : mesh.chips) mesh.open.push_back(&chips_.at(chip));
  mesh.generation = generation_;
  return mesh;
}

ChipNumbers OpenChips::open_since(std::uint64_t generation, const ChipNumbers& chips) const {
  ChipNumbers still;
  for (const std::uint32_t number : chips) {
    const auto chip = chips_.find(number);
    if (chip != chips_.end() && chip->second.opened <= generation) still.push_back(number);
  }
  return still;
}

void OpenChips::forget() {
  chips_.clear();
  ++generation_;
}

}  // namespace ttmem::tt_metal
