// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "show/fleet/fleet.hpp"
#include "text/text.hpp"

namespace ttmem::fleet {

// Returns the output of `ttmem fleet`: one line per host, sums by job, and the hosts without an
// answer with the reasons. `rows` is the maximum number of lines, and the hosts get at least half
// of them; 0 means no maximum. Pure.
[[nodiscard]] std::string fleet_text(const Fleet& fleet, std::size_t rows,
                                     const text::TextOptions& options);

}  // namespace ttmem::fleet
