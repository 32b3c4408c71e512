// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyse/explain/explanation.hpp"
#include "analyse/fit/fit.hpp"

namespace ttmem::fit {

// Explains why the run does not fit on the board: which buffers are in the way there, and what
// would help. `board.failure` must be set. Pure.
[[nodiscard]] explain::Explanation explanation_of(const BoardFit& board);

}  // namespace ttmem::fit
