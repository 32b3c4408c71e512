// SPDX-License-Identifier: Apache-2.0
// Reads facts from /proc about processes that report nothing themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/job.hpp"

namespace ttmem::collector {

// Return the name and the command of a process, safe to print; empty if unknown.
[[nodiscard]] std::string process_name(std::int32_t pid);
[[nodiscard]] std::string process_command(std::int32_t pid);

// Returns the job of a process from /proc. Facts that this user may not read stay empty.
[[nodiscard]] Job process_job(std::int32_t pid);

// Return the texts of /proc/PID/environ and /proc/PID/maps; nullopt if this user may not read them.
[[nodiscard]] std::optional<std::string> process_environment(std::int32_t pid);
[[nodiscard]] std::optional<std::string> process_maps(std::int32_t pid);

// Returns the value of a variable in the text of an environment; "" if it is not set.
[[nodiscard]] std::string variable_in(std::string_view environment, std::string_view name);
// Return true if `maps`, the text of /proc/PID/maps, contains a file whose name begins with
// `name_begins`, or a file of TT-Metal's runtime.
[[nodiscard]] bool has_file(std::string_view maps, std::string_view name_begins);
[[nodiscard]] bool has_runtime(std::string_view maps);

// Returns true if the process has a deleted segment of this directory open. Readers cannot find
// such a segment.
[[nodiscard]] bool has_deleted_segment(std::int32_t pid, const std::string& directory);

}  // namespace ttmem::collector
