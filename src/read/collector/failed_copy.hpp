// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "read/collector/segment_files.hpp"

namespace ttmem::collector {

// Returns the state of the process that writes the segment with this name. Checks the lock on the
// segment, because a process does not lock the copies of its segment. Returns `unknown` if the
// segment exists and cannot be opened.
[[nodiscard]] inline Owner owner_of(const Listing& listing, const std::string& segment) {
  DeniedFiles denied("read");
  std::vector<std::string> warnings;
  const std::optional<OpenFile> file = open_file(listing, segment, denied, warnings);
  if (file) return owner_of(file->fd.get());
  const bool is_there =
      ::faccessat(listing.fd.get(), segment.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
  return is_there ? Owner::unknown : Owner::gone;
}

}  // namespace ttmem::collector
