// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "read/model/snapshot.hpp"
#include "text/text.hpp"

namespace ttmem::views {

// Returns the output of `ttmem programs`: the first `limit` entries of `programs`, then the number
// of entries that are left out. `programs` is select_programs() of the same snapshot.
[[nodiscard]] std::string programs_text(const model::Snapshot& snapshot,
                                        const std::vector<model::Program>& programs,
                                        std::size_t limit, const text::TextOptions& options);

}  // namespace ttmem::views
