// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "read/model/run_summary.hpp"
#include "text/text.hpp"

namespace ttmem::views {

// Returns the text that `ttmem run --summary` prints at the end: the peaks by process, device and
// kind, the allocations that were still held, and the largest holders. Devices of a process share a
// line if their figures are equal. Pure, safe from any thread.
[[nodiscard]] std::string run_summary_text(const model::RunSummary& summary,
                                           const text::TextOptions& options);

}  // namespace ttmem::views
