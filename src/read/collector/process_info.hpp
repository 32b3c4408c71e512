// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ttmem::collector {

// The segment writer does not use these functions and has its own code for reading /proc. The
// writer is linked into workloads, which must not link the collector and its libraries.

using BootId = std::array<std::uint8_t, 16>;

// Removes the next word, and the blanks before it, from `rest`.
std::string_view next_word(std::string_view& rest);

// The facts in /proc about a process of this pid namespace.
struct ProcessFacts {
  std::uint64_t start_time_ticks = 0;   // since boot, as in /proc/PID/stat
  std::array<std::uint32_t, 4> uids{};  // real, effective, saved, file system
  // True as in parse_is_ending(), or if all threads have ended or are being killed.
  bool is_ending = false;

  [[nodiscard]] bool owned_by(std::uint32_t uid) const;
};

// Returns nullopt if the process does not exist here or /proc does not show it.
[[nodiscard]] std::optional<ProcessFacts> process_facts(std::int32_t pid);

// Returns the pid namespace of this process, which is the inode of /proc/self/ns/pid; 0 if /proc is
// missing.
[[nodiscard]] std::uint32_t own_pid_namespace();

// Returns field 22 of /proc/PID/stat. The name in field 2 may contain blanks and parentheses.
[[nodiscard]] std::optional<std::uint64_t> parse_start_time(std::string_view stat);

// Returns the numbers in the line `Uid:` of /proc/PID/status.
[[nodiscard]] std::optional<std::array<std::uint32_t, 4>> parse_uids(std::string_view status);

// Returns true if the texts of /proc/PID/stat and /proc/PID/status show that the whole process is
// ending. A process is ending if its last thread is a zombie or is exiting, or if SIGKILL is
// pending for its first thread. The kernel sets PF_EXITING before an exiting thread closes its
// files. The kernel also sends SIGKILL to the first thread if another thread ends the process.
[[nodiscard]] bool parse_is_ending(std::string_view stat, std::string_view status);

// Returns the wall-clock time at which a process began; `start_time_ticks` as in ProcessFacts.
[[nodiscard]] std::uint64_t start_unix_ns(std::uint64_t start_time_ticks);

// Converts the text of /proc/sys/kernel/random/boot_id to 16 bytes.
[[nodiscard]] std::optional<BootId> parse_boot_id(std::string_view text);
[[nodiscard]] std::optional<BootId> boot_id();

// Returns the login name, or the number if there is no name.
[[nodiscard]] std::string user_name(std::uint32_t uid);

}  // namespace ttmem::collector
