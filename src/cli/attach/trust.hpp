// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace ttmem::attach {

// Returns why users other than this user and root could change or replace the file at the absolute
// `path`. Returns nullopt if no other user could. Checks every directory from / on and follows
// symbolic links, as sshd does for its keys. Each file, link and directory must belong to this user
// or root, and must not be writable for others. Only a sticky directory like /tmp may be writable
// for others. A missing file is trusted.
[[nodiscard]] std::optional<std::string> distrust(const std::string& path);

}  // namespace ttmem::attach
