// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ttmem::tui {

// Puts the terminal at `fd` back when the process crashes: a handler for SIGSEGV, SIGBUS, SIGILL,
// SIGFPE and SIGABRT, with a stack of its own, writes `sequences`, restores what tcgetattr() says
// now, and lets the signal do what it would have done. Call before the terminal is changed.
void restore_on_crash(int fd);
// What to write; known once the terminal's type is. Longer than 500 bytes: cut.
void set_restore_sequences(const std::string& sequences);
// The terminal has been put back in the ordinary way.
void restore_no_more();

// SIGINT, SIGTERM, SIGHUP and SIGQUIT become bytes in a pipe, whose reading end this returns; -1
// when there can be no pipe. Call after curses has set its own handlers.
[[nodiscard]] int stop_signals();

}  // namespace ttmem::tui
