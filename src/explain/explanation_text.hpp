// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "explain/explanation.hpp"
#include "views/text.hpp"

namespace ttmem::explain {

// For people, on one screen. Pure.
[[nodiscard]] std::string explanation_text(const Explanation& explanation,
                                           const views::TextOptions& options);

}  // namespace ttmem::explain
