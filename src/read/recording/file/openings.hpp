// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "read/recording/file/tables.hpp"

namespace ttmem::recording {

// Of each device, [device - 1]: whether its process did not open it again. What a process left on a
// device counts from the last time only: when it opens the device again, it begins with nothing.
[[nodiscard]] std::vector<bool> last_openings(const Tables& tables);

}  // namespace ttmem::recording
