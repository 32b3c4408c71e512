// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "read/model/snapshot.hpp"

namespace ttmem::remote {

// Reads a device as views::snapshot_json() and views::figures_json() write it, from an untrusted
// document. Unknown and impossible values become unknown. Views may rely on two promises of the
// model: the cores are either complete and in row order, or absent, and the device numbers ascend.
// Pure, never fails.
[[nodiscard]] model::Device read_device(const nlohmann::json& json);

// Reads `per_core` of a device with this grid. Returns an empty list unless the list has each core
// of the grid in its place.
[[nodiscard]] std::vector<model::Core> read_cores(const nlohmann::json& list, std::uint16_t grid_x,
                                                  std::uint16_t grid_y);

}  // namespace ttmem::remote
