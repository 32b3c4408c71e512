// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "read/collector/evidence.hpp"
#include "read/collector/segment_files.hpp"

namespace ttmem::collector {

// Returns the processes that have a chip open according to evidence.driver, but have neither a
// living segment nor a row in a region, each with the reason. `known` is the result of an earlier
// pass; a process in `known` that may hold memory is not inspected again. `listing` is null if the
// directory could not be read.
[[nodiscard]] std::vector<Untracked> find_untracked(const Evidence& evidence,
                                                    const Listing* listing,
                                                    const std::vector<Untracked>& known);

// Returns a warning for each untracked process that may hold memory, with all chips that it has
// open. Skips processes with an unreadable segment, which have a warning already. No I/O.
[[nodiscard]] std::vector<std::string> untracked_warnings(const Evidence& evidence);

}  // namespace ttmem::collector
