// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "read/collector/failures.hpp"
#include "text/text.hpp"

namespace ttmem::cli {

// Says on standard error why the processes of a `ttmem run` failed: that of the first one, as far
// as memory did not suffice, from what it held at that moment. Does nothing when none did. `run` is
// the $TTMEM_RUN that they had.
void explain_failure(const std::string& run, const text::TextOptions& options);

// Two lines on standard error at most: which process said what, and why its state was not kept.
void say_failed(const collector::Failure& failure);
// One line for who did not run it: when it was, the command and its user.
void say_whose(const collector::Failure& failure);

}  // namespace ttmem::cli
