// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace ttmem::cli {

// A command that is run with tracking on, and the options that say how.
struct TrackedCommand {
  std::string library{};
  bool ops = false;
  bool keep_shm_tracking = false;
  bool no_adapter = false;

  // The command and this object must live until the action of the command.
  void add_options(Command& command);
  // Sets the environment for it: tracking, and the adapter for the TT-Metal that it would load,
  // which is built if there is none. A line on standard error when there can be none.
  void prepare(const std::vector<std::string>& command) const;
};

// What follows a "--" at the beginning, or all of it.
[[nodiscard]] std::vector<std::string> without_dashes(std::vector<std::string> arguments);

// Says why a command could not be started (an errno), and returns the exit code of shells for that:
// 127 when there is no such command, else 126.
int cannot_run(const std::string& command, int reason);

}  // namespace ttmem::cli
