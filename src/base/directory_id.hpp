// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <string>

#include "base/read_text.hpp"

namespace ttmem {

// Returns a text that identifies a directory on this machine: the boot id of the kernel, and the
// device and inode of the directory, "8f3c...:26:1". The text is the same in every
// container that sees the directory, whatever its path is there. Returns an empty text if the
// directory does not exist or the boot id is unknown.
[[nodiscard]] inline std::string directory_id(const std::string& path) {
  struct stat there {};
  std::string boot_id = read_text("/proc/sys/kernel/random/boot_id");
  while (boot_id.ends_with('\n')) boot_id.pop_back();
  if (boot_id.empty() || ::stat(path.c_str(), &there) != 0) return {};
  return boot_id + ":" + std::to_string(there.st_dev) + ":" + std::to_string(there.st_ino);
}

}  // namespace ttmem
