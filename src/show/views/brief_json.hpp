// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "read/model/snapshot.hpp"

namespace ttmem::views {

// Returns a short form of figures_json() (json.hpp) for a list with one line per host. The text is
// about a tenth as long. It has only DRAM, L1 and headroom, and the job and the memory of each
// process. Leaves out unknown figures. The JSON has one line without a newline. Pure, safe from any
// thread.
[[nodiscard]] std::string brief_figures_json(const model::Device& device);

}  // namespace ttmem::views
