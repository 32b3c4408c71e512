// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "read/model/snapshot.hpp"

namespace ttmem::views {

// Returns the part of figures_json() (json.hpp) that one line per host needs, about a tenth of the
// text: DRAM, L1, headroom, and for each process its job and what the process holds. Leaves out
// unknown figures. The JSON has one line without a newline. Pure, safe from any thread.
[[nodiscard]] std::string brief_figures_json(const model::Device& device);

}  // namespace ttmem::views
