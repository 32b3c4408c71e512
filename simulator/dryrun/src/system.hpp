// SPDX-License-Identifier: Apache-2.0
// The machines that can be simulated: boards, and the number and order of their chips.
#pragma once

#include <string_view>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/device_types.hpp>
#include <tt-metalium/mesh_coord.hpp>
#include <vector>

#include "read/placement/board.hpp"

namespace tt::tt_metal::dryrun {

using ttmem::placement::Board;

inline CoreCoord core_coord(const ttmem::placement::Grid& grid) { return {grid.x, grid.y}; }

struct System {
  Board board;
  distributed::MeshShape mesh_shape;
  std::vector<ChipId> chips;  // in mesh order
  // Chips without a PCIe link, which are reached through other chips.
  std::vector<ChipId> remote_chips = {};
};

// Returns the values of TTMEM_DRYRUN_SYSTEM, without grids.
std::vector<std::string_view> system_names();

// Returns the system that a value of TTMEM_DRYRUN_SYSTEM names. Ignores case and punctuation. An
// empty value means n150. If the name or the grid is unknown, throws an error that lists the known
// names.
System find_system(std::string_view name);

}  // namespace tt::tt_metal::dryrun
