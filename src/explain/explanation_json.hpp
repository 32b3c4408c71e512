// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "explain/explanation.hpp"

namespace ttmem::explain {

// Schema ttmem.explanation.v1 (docs/json.md). Pure.
[[nodiscard]] std::string explanation_json(const Explanation& explanation);

}  // namespace ttmem::explain
