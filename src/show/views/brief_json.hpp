// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "read/model/snapshot.hpp"

namespace ttmem::views {

// Of figures_json() (json.hpp) only what a line for a whole host is made of, a tenth of it: DRAM,
// L1 and headroom, and of each process what it holds and its job. What is unknown is left out. In
// one line without a newline. Pure, safe from any thread.
[[nodiscard]] std::string brief_figures_json(const model::Device& device);

}  // namespace ttmem::views
