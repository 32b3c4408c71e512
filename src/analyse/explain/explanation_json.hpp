// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyse/explain/explanation.hpp"

namespace ttmem::explain {

// Return the explanation as JSON with the schema ttmem.explanation.v1 (docs/guides/explain.md).
// Pure.
[[nodiscard]] nlohmann::ordered_json to_json(const Explanation& explanation);
[[nodiscard]] std::string explanation_json(const Explanation& explanation);

}  // namespace ttmem::explain
