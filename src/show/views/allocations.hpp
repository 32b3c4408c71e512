// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "read/model/snapshot.hpp"
#include "text/text.hpp"

namespace ttmem::views {

// What `ttmem allocs` prints: one line per entry of `allocations`, then their sum. `allocations` is
// select_allocations() of the same snapshot. `hidden_cbs` circular buffers are not in the list; a
// line says how to see them.
[[nodiscard]] std::string allocations_text(const model::Snapshot& snapshot,
                                           const std::vector<model::Allocation>& allocations,
                                           std::uint64_t hidden_cbs,
                                           const text::TextOptions& options);

}  // namespace ttmem::views
