// SPDX-License-Identifier: Apache-2.0
#include "read/collector/process_info.hpp"

#include <fmt/core.h>
#include <pwd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/clock.hpp"
#include "base/parse_number.hpp"
#include "base/read_text.hpp"
#include "base/safe_text.hpp"

namespace ttmem::collector {
namespace {

// Returns the text after the key, such as "\nUid:"; empty if the text does not contain the key.
std::string_view behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + key.size());
}

// Returns the part of /proc/PID/stat from this field on. `field` must be 3 or more. The name, field
// 2, may contain blanks and parentheses.
std::string_view fields_from(int field, std::string_view stat) {
  const std::size_t end_of_name = stat.rfind(')');
  if (end_of_name == std::string_view::npos) return {};
  std::string_view rest = stat.substr(end_of_name + 1);
  for (int i = 3; i < field; ++i) next_word(rest);
  return rest;
}

std::uint64_t number_in(std::string_view rest, int base) {
  return parse_number<std::uint64_t>(next_word(rest), base).value_or(0);
}

// Returns true if SIGKILL is pending for the thread, from the text of its file `status`.
bool is_killed(std::string_view status) {
  constexpr std::uint64_t sigkill = 1U << (SIGKILL - 1);
  return (number_in(behind(status, "\nSigPnd:"), 16) & sigkill) != 0;
}

// Returns true if the thread has ended or is exiting, from the text of its file `stat`.
bool has_ended(std::string_view stat) {
  constexpr std::uint64_t exiting = 4;  // PF_EXITING
  std::string_view rest = fields_from(3, stat);
  const std::string_view state = next_word(rest);
  return state == "Z" || state == "X" || (number_in(fields_from(9, stat), 10) & exiting) != 0;
}

}  // namespace

std::string_view next_word(std::string_view& rest) {
  const std::size_t begin = std::min(rest.find_first_not_of(" \t\n"), rest.size());
  const std::size_t end = std::min(rest.find_first_of(" \t\n", begin), rest.size());
  const std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

std::uint32_t own_pid_namespace() {
  struct stat facts {};
  return ::stat("/proc/self/ns/pid", &facts) == 0 ? static_cast<std::uint32_t>(facts.st_ino) : 0;
}

bool ProcessFacts::owned_by(std::uint32_t uid) const {
  return std::find(uids.begin(), uids.end(), uid) != uids.end();
}

std::optional<std::uint64_t> parse_start_time(std::string_view stat) {
  std::string_view rest = fields_from(22, stat);
  return parse_number<std::uint64_t>(next_word(rest));
}

std::optional<std::array<std::uint32_t, 4>> parse_uids(std::string_view status) {
  std::string_view rest = behind(status, "\nUid:");
  std::array<std::uint32_t, 4> uids{};
  for (std::uint32_t& uid : uids) {
    const auto value = parse_number<std::uint32_t>(next_word(rest));
    if (!value) return std::nullopt;
    uid = *value;
  }
  return uids;
}

bool parse_is_ending(std::string_view stat, std::string_view status) {
  return is_killed(status) ||
         (has_ended(stat) && number_in(fields_from(20, stat), 10) <= 1);  // field 20: threads
}

namespace {

// Returns true if every thread of the process has ended or is being killed.
bool is_every_thread_ending(std::int32_t pid) {
  std::error_code failed;
  std::filesystem::directory_iterator threads(fmt::format("/proc/{}/task", pid), failed);
  for (; !failed && threads != std::filesystem::directory_iterator(); threads.increment(failed)) {
    const std::string path = threads->path();
    const std::string stat = read_text(path + "/stat");
    // A thread without this file has ended meanwhile.
    if (!stat.empty() && !has_ended(stat) && !is_killed(read_text(path + "/status"))) return false;
  }
  return !failed;
}

}  // namespace

std::optional<ProcessFacts> process_facts(std::int32_t pid) {
  if (pid <= 0) return std::nullopt;
  const std::string stat = read_text(fmt::format("/proc/{}/stat", pid));
  const std::string status = read_text(fmt::format("/proc/{}/status", pid));
  const auto start = parse_start_time(stat);
  const auto uids = parse_uids(status);
  if (!start || !uids) return std::nullopt;
  const bool is_ending =
      parse_is_ending(stat, status) || (has_ended(stat) && is_every_thread_ending(pid));
  return ProcessFacts{*start, *uids, is_ending};
}

std::uint64_t start_unix_ns(std::uint64_t start_time_ticks) {
  const auto ticks_per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  const std::uint64_t since_boot = start_time_ticks * (1'000'000'000 / ticks_per_second);
  return clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) + since_boot;
}

std::optional<BootId> parse_boot_id(std::string_view text) {
  BootId id{};
  std::size_t digits = 0;
  for (const char c : text) {
    if (c == '-' || c == '\n') continue;
    const auto digit = std::string_view("0123456789abcdef").find(c);
    if (digit == std::string_view::npos || digits == 32) return std::nullopt;
    std::uint8_t& byte = id[digits++ / 2];
    byte = static_cast<std::uint8_t>(std::size_t{byte} << 4 | digit);
  }
  return digits == 32 ? std::optional(id) : std::nullopt;
}

std::optional<BootId> boot_id() {
  return parse_boot_id(read_text("/proc/sys/kernel/random/boot_id"));
}

std::string user_name(std::uint32_t uid) {
  struct passwd entry {};
  struct passwd* found = nullptr;
  std::vector<char> buffer(16384);
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    return safe_text(found->pw_name);
  }
  return fmt::format("{}", uid);
}

}  // namespace ttmem::collector
