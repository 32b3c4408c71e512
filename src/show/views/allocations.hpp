// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "read/model/snapshot.hpp"
#include "text/text.hpp"

namespace ttmem::views {

// Returns the output of `ttmem allocs`: one line per entry of `allocations`, then the sum.
// `allocations` is select_allocations() of the same snapshot. `hidden_cbs` is the number of
// circular buffers that `allocations` leaves out; if it is not 0, a line says how to list them.
[[nodiscard]] std::string allocations_text(const model::Snapshot& snapshot,
                                           const std::vector<model::Allocation>& allocations,
                                           std::uint64_t hidden_cbs,
                                           const text::TextOptions& options);

}  // namespace ttmem::views
