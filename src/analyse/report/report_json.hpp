// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyse/report/report.hpp"

namespace ttmem::report {

// Schema ttmem.report.v1 (docs/guides/recording.md). Lists have at most `top` entries, but for what
// peaks were made of and what was held: those are whole. Ends with a newline. `indent` -1 writes
// one line, without a newline. Pure.
[[nodiscard]] std::string report_json(const Report& report, std::size_t top, int indent = 2);

}  // namespace ttmem::report
