// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "collector/segment_files.hpp"

namespace ttmem::collector {

// True if the process that writes the segment of this name lives: it holds its lock. Nobody holds
// that of a copy.
[[nodiscard]] inline bool has_owner(const Listing& listing, const std::string& segment) {
  DeniedFiles denied("read");
  std::vector<std::string> warnings;
  const std::optional<OpenFile> file = open_file(listing, segment, denied, warnings);
  return file && owner_of(file->fd.get()) == Owner::alive;
}

}  // namespace ttmem::collector
