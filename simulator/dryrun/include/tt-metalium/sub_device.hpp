// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/hal_types.hpp>
#include <tt_stl/span.hpp>

namespace tt::tt_metal {

// A part of a device's cores. Programs on different sub-devices run independently of each other.
// See MeshDevice::create_sub_device_manager.
class SubDevice {
 public:
  // `cores` has one entry for each core type: the compute cores, then the active Ethernet cores.
  // Throws for other core types.
  explicit SubDevice(ttsl::Span<const CoreRangeSet> cores);

  const CoreRangeSet& cores(HalProgrammableCoreType core_type) const {
    return cores_.at(static_cast<std::size_t>(core_type));
  }

 private:
  std::array<CoreRangeSet, static_cast<std::size_t>(HalProgrammableCoreType::COUNT)> cores_;
};

}  // namespace tt::tt_metal
