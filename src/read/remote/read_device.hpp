// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "read/model/snapshot.hpp"

namespace ttmem::remote {

// A device as views::snapshot_json() and views::figures_json() write it, whoever wrote it. Unknown
// stays unknown, and what cannot be is unknown too, so that views may rely on what the model
// promises: cores row by row or none, numbers ascending. Pure, never fails.
[[nodiscard]] model::Device read_device(const nlohmann::json& json);

// `per_core`, of a device with this grid; empty unless the list has each core of it in its place.
[[nodiscard]] std::vector<model::Core> read_cores(const nlohmann::json& list, std::uint16_t grid_x,
                                                  std::uint16_t grid_y);

}  // namespace ttmem::remote
