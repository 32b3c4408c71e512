// SPDX-License-Identifier: Apache-2.0
//
// What the environment says. A variable that is empty counts as unset, everywhere.
//
// The texts belong to the environment: copy what must outlive a change of it.
#pragma once

#include <cstdlib>

namespace ttmem {

// Never null: "" when the variable is unset.
[[nodiscard]] inline const char* environment(const char* name) noexcept {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

[[nodiscard]] inline const char* environment_or(const char* name, const char* otherwise) noexcept {
  const char* value = environment(name);
  return *value == '\0' ? otherwise : value;
}

// Where writers create their segments and readers find them.
[[nodiscard]] inline const char* segment_directory() noexcept {
  return environment_or("TTMEM_DIR", "/dev/shm");
}

// What stands before /dev, /sys and /proc/driver where the kernel driver is looked for: empty, but
// for tests.
[[nodiscard]] inline const char* system_root() noexcept { return environment("TTMEM_SYSROOT"); }

// Where `ttmem serve` listens and TTMEM_TRANSPORT=socket connects.
[[nodiscard]] inline const char* socket_path() noexcept {
  return environment_or("TTMEM_SOCKET", "/tmp/tt_allocation_server.sock");
}

}  // namespace ttmem
