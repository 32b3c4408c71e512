// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "read/collector/evidence.hpp"
#include "read/collector/segment_files.hpp"

namespace ttmem::collector {

// The processes that have a chip open by evidence.driver, and that neither a living segment nor a
// row of a region is about, each with why. `known` is what an earlier pass found: a process that is
// still the same is not looked into again. `listing` is null when there is none.
[[nodiscard]] std::vector<Untracked> find_untracked(const Evidence& evidence,
                                                    const Listing* listing,
                                                    const std::vector<Untracked>& known);

// A warning for each of them that may hold memory, with all the chips that it has open. No I/O.
[[nodiscard]] std::vector<std::string> untracked_warnings(const Evidence& evidence);

}  // namespace ttmem::collector
