// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace ttmem::cli {

// The options that `run` and `record` share. Both run a command with tracking on.
struct TrackedCommand {
  std::string library{};
  bool ops = false;
  bool keep_shm_tracking = false;
  bool no_adapter = false;

  // Adds the shared options to `command`. `command` and this object must live until the action of
  // `command` has run.
  void add_options(Command& command);
  // Sets the environment for the command: tracking, and the adapter for the TT-Metal that the
  // command would load. Builds the adapter if it does not exist. Prints a line to standard error if
  // there can be no adapter.
  void prepare(const std::vector<std::string>& command) const;
};

// Returns the arguments without a leading "--".
[[nodiscard]] std::vector<std::string> without_dashes(std::vector<std::string> arguments);

// Prints why a command could not be started, and returns the exit code that shells use: 127 if the
// command does not exist, otherwise 126. `reason` is an errno.
int cannot_run(const std::string& command, int reason);

}  // namespace ttmem::cli
