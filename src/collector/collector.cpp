// SPDX-License-Identifier: Apache-2.0
#include "collector/collector.hpp"

#include <cstdlib>

#include "collector/build_snapshot.hpp"
#include "collector/gather.hpp"

namespace ttmem::collector {

std::string segment_directory() {
  const char* directory = std::getenv("TTMEM_DIR");
  return directory != nullptr && *directory != '\0' ? directory : "/dev/shm";
}

model::Snapshot collect(const std::string& directory) { return build_snapshot(gather(directory)); }

}  // namespace ttmem::collector
