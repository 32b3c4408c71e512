// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "read/collector/failures.hpp"
#include "text/text.hpp"

namespace ttmem::cli {

// Explains on standard error why a process of a `ttmem run` failed: the first out-of-memory
// failure, from the state at that moment. Does nothing if there was no such failure. `run` is the
// $TTMEM_RUN of the processes.
void explain_failure(const std::string& run, const text::TextOptions& options);

// Prints at most two lines to standard error: the process and its message, and the reason if its
// state was not saved.
void say_failed(const collector::Failure& failure);
// Prints the time, the command and the user of a failure, for a reader who did not run the command.
void say_failed_command(const collector::Failure& failure);

}  // namespace ttmem::cli
