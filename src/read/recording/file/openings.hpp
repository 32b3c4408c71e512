// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "read/recording/file/tables.hpp"

namespace ttmem::recording {

// Returns a list with the element true at index [device - 1] if that row is the last opening of the
// device by its process. Only the last opening shows what the process left on the device, because a
// device that is opened again begins empty.
[[nodiscard]] std::vector<bool> last_openings(const Tables& tables);

}  // namespace ttmem::recording
