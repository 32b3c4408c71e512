// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.hpp"

namespace ttmem::remote {

// Reads the token that a server shares with its clients: the content of a file, without the newline
// at its end. Fails if the file cannot be read, if users other than its owner and group may read
// it, if its group may write it, or if the content is not a token. A token has 16 to 512 printable
// characters.
[[nodiscard]] Result<std::string> read_token(const std::string& path);

}  // namespace ttmem::remote
