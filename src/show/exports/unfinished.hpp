// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ttmem::exports {

// Removes the file or folder if SIGINT, SIGTERM or SIGHUP ends the process, so that an interrupted
// large export does not fill the disk. A folder is removed only if it is empty: register the folder
// first, then its files. Handles at most eight paths; further paths stay behind. Not thread-safe.
void remove_when_interrupted(const std::string& path);

}  // namespace ttmem::exports
