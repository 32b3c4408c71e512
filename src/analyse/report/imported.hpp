// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analyse/report/report.hpp"

namespace ttmem::report {

// Returns the figures of another tool for an imported run, with that tool's names: the numbers of a
// JSON object, in which null means unknown. Returns an empty list if `json` is not an object.
[[nodiscard]] std::vector<std::pair<std::string, Bytes>> imported_figures(const std::string& json);

}  // namespace ttmem::report
