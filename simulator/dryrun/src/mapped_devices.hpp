// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tt-metalium/mesh_coord.hpp>
#include <vector>

namespace tt::tt_metal::distributed {

// Returns the chips of a mesh of this shape, in mesh order. Without a shape, returns the chips of
// the whole machine. A line of chips is a path of neighbouring chips. A box that does not fit is
// turned by 90 degrees. Throws if the turned box does not fit either.
std::vector<int> mapped_devices(const std::optional<MeshShape>& shape,
                                const std::optional<MeshCoordinate>& offset = std::nullopt);

}  // namespace tt::tt_metal::distributed
