// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "analyse/leaks/leaks.hpp"

namespace ttmem::leaks {

// Returns all results with the schema ttmem.leaks.v1 (docs/reference/json.md). Ends with a newline.
// Pure.
[[nodiscard]] std::string leaks_json(const std::vector<Leaks>& all);

}  // namespace ttmem::leaks
