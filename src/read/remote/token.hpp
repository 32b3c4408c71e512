// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.hpp"

namespace ttmem::remote {

// What a server and those who ask it both know: the content of a file, without the newline at its
// end. Fails when it cannot be read, when others than its owner and group may read it or its group
// may write it, and when it is no token: 16 to 512 characters that can be seen.
[[nodiscard]] Result<std::string> read_token(const std::string& path);

}  // namespace ttmem::remote
