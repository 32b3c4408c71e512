// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "analyse/leaks/leaks.hpp"
#include "text/json_layout.hpp"

namespace ttmem::leaks {

// Returns all results with the schema ttmem.leaks.v1 (docs/reference/json.md). Ends with a newline.
// Pure.
[[nodiscard]] std::string leaks_json(const std::vector<Leaks>& all,
                                     text::JsonLayout layout = text::JsonLayout::pretty);

}  // namespace ttmem::leaks
