// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/saturating.hpp"
#include "segment/reader/segment_image.hpp"

namespace ttmem::collector {

// The live buffers and kernels of a device. CBs are not allocations, whether programs have them or
// they were reported without an address.
[[nodiscard]] inline std::uint64_t live_allocations(const segment::DeviceImage& device) {
  std::uint64_t count = 0;
  for (std::uint32_t kind = 0; kind < segment::kKinds; ++kind) {
    if (kind != segment::kLooseCbKind) count = saturating_add(count, device.kinds[kind].live);
  }
  return count;
}

}  // namespace ttmem::collector
