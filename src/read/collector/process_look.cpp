// SPDX-License-Identifier: Apache-2.0
#include "read/collector/process_look.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/read_text.hpp"
#include "base/safe_text.hpp"
#include "read/collector/segment_files.hpp"
#include "track/job/find_job.hpp"

namespace ttmem::collector {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMax = 16 << 20;

std::string path_of(std::int32_t pid, const char* file) {
  return fmt::format("/proc/{}/{}", pid, file);
}

// Calls use(name) with the name of each mapped file, without its folders, until use() returns true.
// Returns false if use() returned true for no file.
template <typename Use>
bool any_file(std::string_view maps, Use&& use) {
  while (!maps.empty()) {
    const std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(line.size() + 1, maps.size()));
    const std::size_t slash = line.rfind('/');
    if (slash != std::string_view::npos && use(line.substr(slash + 1))) return true;
  }
  return false;
}

}  // namespace

std::string process_name(std::int32_t pid) {
  std::string name = read_text(path_of(pid, "comm"));
  if (name.ends_with('\n')) name.pop_back();
  return safe_text(name);
}

std::string process_command(std::int32_t pid) {
  constexpr std::size_t most = 1024;
  std::string command = read_text(path_of(pid, "cmdline"), most);
  if (command.ends_with('\0')) command.pop_back();
  std::replace(command.begin(), command.end(), '\0', ' ');
  return safe_text(command);
}

Job process_job(std::int32_t pid) {
  const std::string environment = process_environment(pid).value_or("");
  Job job = job::job_of(fmt::format("/proc/{}", pid),
                        [&](const char* name) { return variable_in(environment, name); });
  for (const JobField& field : kJobFields) {
    job.*field.value = safe_text(job.*field.value);
  }
  return job;
}

std::optional<std::string> process_environment(std::int32_t pid) {
  return try_read_text(path_of(pid, "environ"), kMax);
}

std::optional<std::string> process_maps(std::int32_t pid) {
  return try_read_text(path_of(pid, "maps"), kMax);
}

std::string variable_in(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const std::string_view entry = environment.substr(0, environment.find('\0'));
    environment.remove_prefix(std::min(entry.size() + 1, environment.size()));
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return std::string(entry.substr(name.size() + 1));
    }
  }
  return {};
}

bool has_file(std::string_view maps, std::string_view name_begins) {
  return any_file(maps, [&](std::string_view name) { return name.starts_with(name_begins); });
}

bool has_runtime(std::string_view maps) {
  return any_file(maps, [](std::string_view name) {
    return name.starts_with("libtt_metal") || (name.find("ttnn") != std::string_view::npos &&
                                               name.find(".so") != std::string_view::npos);
  });
}

bool has_deleted_segment(std::int32_t pid, const std::string& directory) {
  std::error_code error;
  for (fs::directory_iterator it(path_of(pid, "fd"), error), end; !error && it != end;
       it.increment(error)) {
    std::error_code unreadable;
    const std::string target = fs::read_symlink(it->path(), unreadable).string();
    constexpr std::string_view mark = " (deleted)";
    if (unreadable || !target.ends_with(mark) || !target.starts_with(directory + "/")) continue;
    const std::string_view name = std::string_view(target).substr(
        directory.size() + 1, target.size() - mark.size() - directory.size() - 1);
    if (parse_segment_name(name)) return true;
  }
  return false;
}

}  // namespace ttmem::collector
