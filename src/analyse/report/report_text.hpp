// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "analyse/report/report.hpp"
#include "text/text.hpp"

namespace ttmem::report {

struct ReportTextOptions {
  std::string file;     // its name, for the first line
  std::size_t top = 5;  // lines of each list
  bool brief = false;   // without what is least important, for a small screen
};

// What `ttmem report` prints: the peaks of every device, devices with equal figures together; then
// of the fullest device what its peaks were made of; what was left, what grew, and what to set.
// Lists that would be empty are left out. Pure.
[[nodiscard]] std::string report_text(const Report& report, const ReportTextOptions& what,
                                      const text::TextOptions& options);

// "0", or "0 (0x1f00a)" when another device has that number.
[[nodiscard]] std::string name_of(const DeviceReport& device, const Report& report);

}  // namespace ttmem::report
