// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyse/explain/explanation.hpp"
#include "analyse/fit/fit.hpp"

namespace ttmem::fit {

// Returns the explanation why the run does not fit on the board, with the buffers that are in the
// way and the changes that would help. `board.failure` must be set. Pure.
[[nodiscard]] explain::Explanation explanation_of(const BoardFit& board);

}  // namespace ttmem::fit
