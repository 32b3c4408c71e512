// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "read/collector/failures.hpp"
#include "text/text.hpp"

namespace ttmem::cli {

// Explains the first out-of-memory failure of a `ttmem run` on standard error, from the state at
// the moment of the failure. Does nothing if there was no such failure. `run` is the value of
// $TTMEM_RUN in the processes of the run.
void explain_failure(const std::string& run, const text::TextOptions& options);

// Prints a line with the process and its message to standard error. If the state of the process was
// not saved, prints a second line with the reason.
void say_failed(const collector::Failure& failure);
// Prints the time, the command and the user of a failure, for a reader who did not run the command.
void say_failed_command(const collector::Failure& failure);

}  // namespace ttmem::cli
