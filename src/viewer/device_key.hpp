// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/report.hpp"
#include "views/format.hpp"

namespace ttmem::viewer {

// As views::key_of() gives it to the same chip at a moment: a recording has no PCI addresses.
[[nodiscard]] inline std::string key_of(const report::DeviceReport& device) {
  return device.uid != 0 ? views::format_hex(device.uid)
                         : views::key_of_number(device.id, device.arch);
}

}  // namespace ttmem::viewer
