// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyse/report/report.hpp"
#include "text/json_layout.hpp"

namespace ttmem::report {

// Returns JSON of the schema ttmem.report.v1 (docs/guides/recording.md). Lists have at most `top`
// entries, except the lists of contents at the peaks and at the end, which are complete. Ends with
// a newline. Pure.
[[nodiscard]] std::string report_json(const Report& report, std::size_t top,
                                      text::JsonLayout layout = text::JsonLayout::pretty);

}  // namespace ttmem::report
