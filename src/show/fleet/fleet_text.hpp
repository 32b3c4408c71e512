// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "show/fleet/fleet.hpp"
#include "text/text.hpp"

namespace ttmem::fleet {

// What `ttmem fleet` prints: one line a host, sums by job, and hosts without an answer with the
// reason. `rows`: lines that there are for it, of which the hosts get half at least; 0: any number.
// Pure.
[[nodiscard]] std::string fleet_text(const Fleet& fleet, std::size_t rows,
                                     const text::TextOptions& options);

}  // namespace ttmem::fleet
