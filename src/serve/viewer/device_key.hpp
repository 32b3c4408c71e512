// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyse/report/report.hpp"
#include "text/format.hpp"

namespace ttmem::viewer {

// Returns the key that text::key_of() gives to the same chip at a moment. A recording has no PCI
// addresses.
[[nodiscard]] inline std::string key_of(const report::DeviceReport& device) {
  return device.uid != 0 ? text::format_hex(device.uid)
                         : text::key_of_number(device.id, device.arch);
}

}  // namespace ttmem::viewer
