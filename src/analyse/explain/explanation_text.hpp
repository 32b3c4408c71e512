// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyse/explain/explanation.hpp"
#include "text/text.hpp"

namespace ttmem::explain {

// Formats an explanation for people, on one screen. Pure.
[[nodiscard]] std::string explanation_text(const Explanation& explanation,
                                           const text::TextOptions& options);

}  // namespace ttmem::explain
