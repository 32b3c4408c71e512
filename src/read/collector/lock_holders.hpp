// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ttmem::collector {

// Who holds the lock of a file, by the pid that it has in the reader's pid namespace: /proc/locks
// translates it. So a process of a container, whose own pid means nothing here, gets the pid by
// which it can be found. Reads /proc/locks once, when first asked. Not thread-safe.
class LockHolders {
 public:
  // None when nobody holds it exclusively, the holder is not visible here, or /proc is missing.
  [[nodiscard]] std::optional<std::int32_t> holder_of(dev_t device, ino_t file);

 private:
  std::optional<std::string> locks_;
};

// The same from the text of /proc/locks.
[[nodiscard]] std::optional<std::int32_t> parse_lock_holder(std::string_view locks, dev_t device,
                                                            ino_t file);

}  // namespace ttmem::collector
