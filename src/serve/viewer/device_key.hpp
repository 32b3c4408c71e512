// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyse/report/report.hpp"
#include "text/format.hpp"

namespace ttmem::viewer {

// Returns the key of a device of a report. text::key_of() gives the same key to the same chip in a
// snapshot of the recording. The key has no PCI address, because a recording has none.
[[nodiscard]] inline std::string key_of(const report::DeviceReport& device) {
  return device.uid != 0 ? text::format_hex(device.uid)
                         : text::key_of_number(device.id, device.arch);
}

}  // namespace ttmem::viewer
