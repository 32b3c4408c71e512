// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "show/exports/selection.hpp"

namespace ttmem::exports {

// Returns a cluster descriptor (YAML, as tt-umd writes it) with the selected chips. `places` has
// the number of each chip in the report. A recording contains neither links between chips nor
// coordinates nor harvesting: these parts are empty.
[[nodiscard]] std::string cluster_descriptor(const Selection& selection,
                                             const std::vector<std::size_t>& places);

}  // namespace ttmem::exports
