// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ttmem::collector {

// The segment writer has its own code for this: it is linked into workloads, and the collector with
// its libraries must not be.

using BootId = std::array<std::uint8_t, 16>;

// Removes the next word, and the blanks before it, from `rest`.
std::string_view next_word(std::string_view& rest);

// What /proc says of a process of this pid namespace.
struct ProcessFacts {
  std::uint64_t start_time_ticks = 0;   // since boot, as in /proc/PID/stat
  std::array<std::uint32_t, 4> uids{};  // real, effective, saved, of files
  bool is_ending = false;               // a zombie, or on its way out of the kernel

  [[nodiscard]] bool owned_by(std::uint32_t uid) const;
};

// None when there is no such process here, or /proc does not show it.
[[nodiscard]] std::optional<ProcessFacts> process_facts(std::int32_t pid);

// The pid namespace of this process: the inode of /proc/self/ns/pid. 0 when /proc is missing.
[[nodiscard]] std::uint32_t own_pid_namespace();

// Field 22 of /proc/PID/stat. The name in field 2 may hold blanks and parentheses.
[[nodiscard]] std::optional<std::uint64_t> parse_start_time(std::string_view stat);

// The line `Uid:` of /proc/PID/status.
[[nodiscard]] std::optional<std::array<std::uint32_t, 4>> parse_uids(std::string_view status);

// Whether all of a process is ending, from the texts of /proc/PID/stat and /proc/PID/status: the
// only thread left is a zombie or exits (PF_EXITING, which is set before it closes its files), or
// SIGKILL waits for the first one, which the end of another thread also sends. False when they do
// not say.
[[nodiscard]] bool parse_is_ending(std::string_view stat, std::string_view status);

// When a process began, on the wall clock; `start_time_ticks` as in ProcessFacts.
[[nodiscard]] std::uint64_t start_unix_ns(std::uint64_t start_time_ticks);

// The text of /proc/sys/kernel/random/boot_id as 16 bytes.
[[nodiscard]] std::optional<BootId> parse_boot_id(std::string_view text);
[[nodiscard]] std::optional<BootId> boot_id();

// The login name, or the number when there is none.
[[nodiscard]] std::string user_name(std::uint32_t uid);

}  // namespace ttmem::collector
