// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyse/fit/fit.hpp"
#include "text/text.hpp"

namespace ttmem::fit {

// One block of lines about one board. `scope` is what --max names; empty: it was not asked for.
[[nodiscard]] std::string fit_text(const BoardFit& board, const std::string& file,
                                   const std::string& scope, const text::TextOptions& options);

}  // namespace ttmem::fit
