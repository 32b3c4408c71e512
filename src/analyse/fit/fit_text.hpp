// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyse/fit/fit.hpp"
#include "text/text.hpp"

namespace ttmem::fit {

// Formats the result for one board as a block of lines. `scope` is the argument of --max; empty
// means no --max.
[[nodiscard]] std::string fit_text(const BoardFit& board, const std::string& file,
                                   const std::string& scope, const text::TextOptions& options);

}  // namespace ttmem::fit
