// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "read/model/snapshot.hpp"
#include "text/text.hpp"

namespace ttmem::views {

// What `ttmem programs` prints: the first `limit` entries of `programs`, which is
// select_programs() of the same snapshot, and how many more there are.
[[nodiscard]] std::string programs_text(const model::Snapshot& snapshot,
                                        const std::vector<model::Program>& programs,
                                        std::size_t limit, const text::TextOptions& options);

}  // namespace ttmem::views
