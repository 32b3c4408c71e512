// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "analyse/fit/fit.hpp"

namespace ttmem::fit {

// Returns the document `ttmem.fit.v1` (docs/guides/fit.md).
[[nodiscard]] std::string fit_json(const std::vector<BoardFit>& boards);

}  // namespace ttmem::fit
