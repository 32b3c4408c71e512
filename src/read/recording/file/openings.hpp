// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "read/recording/file/tables.hpp"

namespace ttmem::recording {

// Returns for each device, at index [device - 1], true if this was the last time that its process
// opened the device. A process that opens a device again begins with nothing, so only the last time
// says what the process left on the device.
[[nodiscard]] std::vector<bool> last_openings(const Tables& tables);

}  // namespace ttmem::recording
