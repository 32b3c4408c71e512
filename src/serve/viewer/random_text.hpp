// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ttmem::viewer {

// 32 hex digits that nobody can guess. Empty: the system has no random numbers.
[[nodiscard]] std::string random_text();

}  // namespace ttmem::viewer
