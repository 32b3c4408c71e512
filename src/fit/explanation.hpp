// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "explain/explanation.hpp"
#include "fit/fit.hpp"

namespace ttmem::fit {

// Why the run does not fit on that board: who is in the way there, and what would help. The board
// has a failure. Pure.
[[nodiscard]] explain::Explanation explanation_of(const BoardFit& board);

}  // namespace ttmem::fit
