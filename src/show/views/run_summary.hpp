// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "read/model/run_summary.hpp"
#include "text/text.hpp"

namespace ttmem::views {

// Returns the text at the end of `ttmem run --summary`: the peaks by process, device and kind, the
// allocations that were still held, and the largest holders. Devices of a process with equal
// figures share a line. Pure, safe from any thread.
[[nodiscard]] std::string run_summary_text(const model::RunSummary& summary,
                                           const text::TextOptions& options);

}  // namespace ttmem::views
