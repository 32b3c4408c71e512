// SPDX-License-Identifier: Apache-2.0
//
// What /proc tells of a process that tells nothing itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/job.hpp"

namespace ttmem::collector {

// Safe to print; empty when unknown.
[[nodiscard]] std::string process_name(std::int32_t pid);
[[nodiscard]] std::string process_command(std::int32_t pid);

// What this user may see of it.
[[nodiscard]] Job process_job(std::int32_t pid);

// The texts of /proc/PID/environ and /proc/PID/maps; none when this user may not see them.
[[nodiscard]] std::optional<std::string> process_environment(std::int32_t pid);
[[nodiscard]] std::optional<std::string> process_maps(std::int32_t pid);

// Of the text of an environment: a variable, "" when it is unset.
[[nodiscard]] std::string variable_in(std::string_view environment, std::string_view name);
// Of the text of maps: whether a file is there whose name begins so, or that has TT-Metal's runtime
// by its name.
[[nodiscard]] bool has_file(std::string_view maps, std::string_view name_begins);
[[nodiscard]] bool has_runtime(std::string_view maps);

// True if it has a segment of this directory open that was removed, so that nobody finds it.
[[nodiscard]] bool has_deleted_segment(std::int32_t pid, const std::string& directory);

}  // namespace ttmem::collector
