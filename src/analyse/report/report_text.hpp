// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "analyse/report/report.hpp"
#include "text/text.hpp"

namespace ttmem::report {

struct ReportTextOptions {
  std::string file;     // file name for the first line
  std::size_t top = 5;  // number of lines of each list
  bool brief = false;   // leave out the least important parts, for a small screen
};

// Returns the text of `ttmem report`. First come the peaks of every device; devices with equal
// figures share one block. Then come the contents at the peaks of the fullest device, the memory
// that was left, the memory that grew, and the settings with which the device should be opened.
// Leaves out empty lists. Pure.
[[nodiscard]] std::string report_text(const Report& report, const ReportTextOptions& what,
                                      const text::TextOptions& options);

// Returns the number of the device, such as "0". If another device has the same number, adds the
// uid, as in "0 (0x1f00a)".
[[nodiscard]] std::string name_of(const DeviceReport& device, const Report& report);

}  // namespace ttmem::report
