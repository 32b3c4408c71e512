// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "read/recording/file/tables.hpp"

namespace ttmem::recording {

// Returns, at index [device - 1], true if this row is the last opening of the device by its
// process. A process that opens a device again begins with nothing, so only the last opening shows
// what the process left on the device.
[[nodiscard]] std::vector<bool> last_openings(const Tables& tables);

}  // namespace ttmem::recording
