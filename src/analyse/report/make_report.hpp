// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "analyse/report/report.hpp"
#include "base/result.hpp"
#include "read/recording/file/reader.hpp"

namespace ttmem::report {

// Reads a recording twice: for the extremes, and for what they were made of. Memory is bounded by
// what is live at a time, and by what differs. `progress` is called with the part that is done, 0
// to 1; may be empty. Fails when the file is damaged.
[[nodiscard]] Result<Report> make_report(recording::Reader& reader,
                                         const std::function<void(double)>& progress);

}  // namespace ttmem::report
