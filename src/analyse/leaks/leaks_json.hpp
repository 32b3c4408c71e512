// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "analyse/leaks/leaks.hpp"

namespace ttmem::leaks {

// Schema ttmem.leaks.v1 (docs/reference/json.md), of all that was looked at. Ends with a newline. Pure.
[[nodiscard]] std::string leaks_json(const std::vector<Leaks>& all);

}  // namespace ttmem::leaks
