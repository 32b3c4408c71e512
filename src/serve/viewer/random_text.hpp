// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ttmem::viewer {

// Returns 32 hex digits that cannot be guessed, or an empty text if the system has no random
// numbers.
[[nodiscard]] std::string random_text();

}  // namespace ttmem::viewer
