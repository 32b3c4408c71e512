// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyse/explain/explanation.hpp"
#include "analyse/fit/fit.hpp"

namespace ttmem::fit {

// Why the run does not fit on that board: who is in the way there, and what would help. The board
// has a failure. Pure.
[[nodiscard]] explain::Explanation explanation_of(const BoardFit& board);

}  // namespace ttmem::fit
