// SPDX-License-Identifier: Apache-2.0
#include "read/collector/lock_holders.hpp"

#include <fmt/core.h>
#include <sys/sysmacros.h>

#include <algorithm>

#include "base/parse_number.hpp"
#include "base/read_text.hpp"
#include "read/collector/process_info.hpp"

namespace ttmem::collector {

// Parses lines such as "1: FLOCK  ADVISORY  WRITE 4711 00:1a:8123 0 EOF". The line of a process
// that waits for the lock has "->" before FLOCK.
std::optional<std::int32_t> parse_lock_holder(std::string_view locks, dev_t device, ino_t file) {
  const std::string place = fmt::format("{:02x}:{:02x}:{}", major(device), minor(device), file);
  while (!locks.empty()) {
    std::string_view line = locks.substr(0, locks.find('\n'));
    locks.remove_prefix(std::min(line.size() + 1, locks.size()));
    next_word(line);
    if (next_word(line) != "FLOCK") continue;
    next_word(line);
    if (next_word(line) != "WRITE") continue;
    const auto pid = parse_number<std::int32_t>(next_word(line));
    if (next_word(line) == place) return pid && *pid > 0 ? pid : std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::int32_t> LockHolders::holder_of(dev_t device, ino_t file) {
  // Maximum size of /proc/locks in bytes. This is enough for tens of thousands of locks.
  constexpr std::size_t most = 4 << 20;
  if (!locks_) locks_ = read_text("/proc/locks", most);
  return parse_lock_holder(*locks_, device, file);
}

}  // namespace ttmem::collector
