// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tt-metalium/device.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <vector>

namespace ttmem::tt_metal {

// The chips of a mesh, or the chip itself.
inline std::vector<::tt::tt_metal::IDevice*> chips_of(const ::tt::tt_metal::IDevice* device) {
  using ::tt::tt_metal::distributed::MeshDevice;
  if (const auto* mesh = dynamic_cast<const MeshDevice*>(device)) return mesh->get_devices();
  return {const_cast<::tt::tt_metal::IDevice*>(device)};
}

inline std::uint32_t number_of(const ::tt::tt_metal::IDevice& chip) {
  return static_cast<std::uint32_t>(chip.id());
}

}  // namespace ttmem::tt_metal
