// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analyse/report/report.hpp"

namespace ttmem::report {

// What another tool says of an imported run, by its own names: the numbers of a JSON object, null
// is unknown. Empty when it is none.
[[nodiscard]] std::vector<std::pair<std::string, Bytes>> imported_figures(const std::string& json);

}  // namespace ttmem::report
