// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ttmem::exports {

// When SIGINT, SIGTERM or SIGHUP ends the process, the file or folder goes first: a large export
// that is given up must not fill the disk. A folder is removed when it is empty; name what lies in
// it later. Handles a few; more are left behind. Not thread-safe.
void remove_when_interrupted(const std::string& path);

}  // namespace ttmem::exports
