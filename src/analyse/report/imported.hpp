// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analyse/report/report.hpp"

namespace ttmem::report {

// Returns the figures that another tool reported for an imported run, with that tool's names. The
// figures are the numbers in the JSON object `json`. A null in `json` is an unknown figure. Returns
// an empty list if `json` is not an object.
[[nodiscard]] std::vector<std::pair<std::string, Bytes>> imported_figures(const std::string& json);

}  // namespace ttmem::report
