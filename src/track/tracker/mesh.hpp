// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "segment/writer/segment_writer.hpp"

namespace ttmem::tracker {

using segment::DeviceMask;

// Devices of the same shape (grid and DRAM channels): a buffer takes the same bytes on each.
struct MeshPart {
  DeviceMask devices;
  std::uint32_t first = 0;  // of them
  std::uint32_t set = 0;    // their number in the segment; 0: not asked for yet, or no room
};

// The devices of a list that a caller gave: each once, and open.
struct Mesh {
  DeviceMask devices;
  std::vector<MeshPart> parts;
};

// A list, and what Tracker::mesh() made of it. A workload passes the same few lists all the time.
struct KnownMesh {
  Mesh mesh;
  std::vector<std::uint32_t> list;
  std::uint64_t shapes = 0;  // Tracker::shapes_ at that time; 0: not to be used
};
using KnownMeshes = std::array<KnownMesh, 8>;

}  // namespace ttmem::tracker
