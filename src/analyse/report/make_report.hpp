// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "analyse/report/report.hpp"
#include "base/result.hpp"
#include "read/recording/file/reader.hpp"

namespace ttmem::report {

// Makes the report of a recording. Reads the recording twice, first for the extremes and then for
// the contents at the peaks. The memory use is bounded by the number of allocations and programs
// that are live at one time, and by the number of distinct names. Calls `progress` with the
// finished part, 0 to 1; `progress` may be empty. Fails if the file is damaged.
[[nodiscard]] Result<Report> make_report(recording::Reader& reader,
                                         const std::function<void(double)>& progress);

}  // namespace ttmem::report
