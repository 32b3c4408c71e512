// SPDX-License-Identifier: Apache-2.0
//
// The ids of runs. `ttmem run` and `ttmem record` put their id in front of $TTMEM_RUN. Every
// process copies $TTMEM_RUN into its segment, so the runs of even a very short process are known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "read/collector/segment_files.hpp"

namespace ttmem::collector {

// The role of this process: it reads the segments of the run, or only starts the run.
enum class RunRole : std::uint8_t { starts, reads };

// Puts a new id in front of $TTMEM_RUN and returns the id. Other users cannot guess the id.
[[nodiscard]] std::string name_this_run(RunRole role);

// Returns whether the process that made the id lives; unknown for another pid namespace.
[[nodiscard]] Owner owner_of_run(std::string_view id);

// Returns true for the id of a reader: a process that reads the segments of its run.
[[nodiscard]] bool is_reader_id(std::string_view id);

// Returns true if one of these runs has a living reader in this pid namespace.
[[nodiscard]] bool has_reader(const std::vector<std::string>& ids);

}  // namespace ttmem::collector
