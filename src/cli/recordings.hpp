// SPDX-License-Identifier: Apache-2.0
//
// What the commands that read recordings share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "recording/file/reader.hpp"
#include "report/limit.hpp"
#include "report/report.hpp"

namespace ttmem::cli {

// "12.5s", "300ms", "2m", "1h", "90" (seconds): nanoseconds since the recording began.
[[nodiscard]] Result<recording::Time> parse_moment(const std::string& text);
// The text itself, when it is a moment or names one: "peak", "end", "dram.peak".
[[nodiscard]] Result<std::optional<std::string>> check_moment(const std::string& text);

// Draws a bar on standard error while a long file is read; empty when that is no terminal or the
// file is short.
[[nodiscard]] std::function<void(double)> progress_for(const recording::Reader& reader,
                                                       const std::string& file);

// Says which limits are exceeded, and by how much. Returns kLimit when one is, kFailure when a
// figure is unknown that one is about, else kSuccess.
[[nodiscard]] int judge(const std::vector<report::Limit>& limits, const report::Report* before,
                        const report::Report& now);

}  // namespace ttmem::cli
