// SPDX-License-Identifier: Apache-2.0
//
// The machines that can be simulated: boards, and how many chips they are in what order.
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
  std::vector<ChipId> chips;              // in mesh order
  std::vector<ChipId> remote_chips = {};  // those without a PCIe link, reached through others
};

// What TTMEM_DRYRUN_SYSTEM may say, without a grid.
std::vector<std::string_view> system_names();

// `name` as TTMEM_DRYRUN_SYSTEM has it, case and punctuation aside; empty means n150. Throws for a
// name or a grid it does not know, and says which names there are.
System find_system(std::string_view name);

}  // namespace tt::tt_metal::dryrun
