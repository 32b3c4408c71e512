// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "read/model/snapshot.hpp"

namespace ttmem::views {

// Returns a short form of figures_json() (json.hpp), about a tenth as long, for `ttmem fleet`. It
// has only DRAM, L1 and headroom, and the job and the memory of each process. Leaves out unknown
// figures. The text has no newline. Pure, safe from any thread.
[[nodiscard]] std::string brief_figures_json(const model::Device& device);

}  // namespace ttmem::views
