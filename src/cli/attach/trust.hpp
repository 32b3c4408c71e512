// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace ttmem::attach {

// Returns the reason why a user other than this user and root could change or replace the file at
// `path`, or nullopt if none could. `path` must be absolute. Checks every directory from / on and
// follows symbolic links, as sshd does for its keys. Each file, link and directory must belong to
// this user or root, and must not be writable for others. Only a sticky directory like /tmp may be
// writable for others. A missing file is trusted.
[[nodiscard]] std::optional<std::string> distrust(const std::string& path);

}  // namespace ttmem::attach
