// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ttmem::collector {

// Finds the process that holds the lock on a file, by /proc/locks. The kernel translates the pids
// in /proc/locks into the reader's pid namespace. A process in a container knows only its pid in
// the container, which is useless to the reader. Reads /proc/locks once, at the first call. Not
// thread-safe.
class LockHolders {
 public:
  // Returns nullopt if no process holds the lock exclusively, if the holder is not visible here, or
  // if /proc is missing.
  [[nodiscard]] std::optional<std::int32_t> holder_of(dev_t device, ino_t file);

 private:
  std::optional<std::string> locks_;
};

// Finds the holder in the text of /proc/locks.
[[nodiscard]] std::optional<std::int32_t> parse_lock_holder(std::string_view locks, dev_t device,
                                                            ino_t file);

}  // namespace ttmem::collector
