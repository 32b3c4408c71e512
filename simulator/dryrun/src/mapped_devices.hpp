// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tt-metalium/mesh_coord.hpp>
#include <vector>

namespace tt::tt_metal::distributed {

// The chips that a mesh of this shape gets, in mesh order; no shape means the whole machine. A line
// runs through neighbouring chips; a box that does not fit is turned by 90 degrees. Throws when it
// does not fit then.
std::vector<int> mapped_devices(const std::optional<MeshShape>& shape,
                                const std::optional<MeshCoordinate>& offset = std::nullopt);

}  // namespace tt::tt_metal::distributed
