// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ttmem::tui {

// Restores the terminal at `fd` when the process crashes: a handler for SIGSEGV, SIGBUS, SIGILL,
// SIGFPE and SIGABRT, with a stack of its own, writes `sequences`, restores what tcgetattr() says
// now, and then lets the signal take its default action. Call before the terminal is changed.
void restore_on_crash(int fd);
// What to write; set it once the terminal's type is known. Cut at 500 bytes.
void set_restore_sequences(const std::string& sequences);
// The terminal has been restored in the normal way.
void restore_no_more();

// SIGINT, SIGTERM, SIGHUP and SIGQUIT become bytes in a pipe, whose reading end this returns; -1
// when no pipe can be made. Call after curses has set its own handlers.
[[nodiscard]] int stop_signals();

}  // namespace ttmem::tui
