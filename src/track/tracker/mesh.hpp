// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "segment/writer/segment_writer.hpp"

namespace ttmem::tracker {

using segment::DeviceMask;

// The devices of a mesh that have one shape (grid and number of DRAM channels). A buffer takes
// equally many bytes on each of these devices.
struct MeshPart {
  DeviceMask devices;
  std::uint32_t first = 0;  // index of the record of the first device
  // Number that identifies the device set in the segment; 0: not looked up yet, or no room.
  std::uint32_t set = 0;
};

// The devices that a call names in a list: each device once, and all of them open.
struct TrackedMesh {
  DeviceMask devices;
  std::vector<MeshPart> parts;
};

// A list of devices and its mesh. DeviceTable::mesh() remembers them, because a workload passes the
// same few lists all the time.
struct KnownMesh {
  TrackedMesh mesh;
  std::vector<std::uint32_t> list;
  std::uint64_t shapes = 0;  // DeviceTable::shapes_ when `mesh` was made; 0: not valid
};
using KnownMeshes = std::array<KnownMesh, 8>;

}  // namespace ttmem::tracker
