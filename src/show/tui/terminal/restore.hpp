// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ttmem::tui {

// Restores the terminal at `fd` if the process crashes by SIGSEGV, SIGBUS, SIGILL, SIGFPE or
// SIGABRT. The signal handler has its own stack. It writes the sequences of
// set_restore_sequences(), restores the tcgetattr() settings from the time of this call, and then
// takes the signal's default action. Call before the terminal is changed.
void restore_on_crash(int fd);
// Sets the sequences that the crash handler writes. They depend on the type of the terminal.
// Sequences of more than 500 bytes in total are cut.
void set_restore_sequences(const std::string& sequences);
// Makes the crash handler leave the terminal unchanged. Call after the terminal was restored
// without a crash.
void disarm_restore();

// Makes SIGINT, SIGTERM, SIGHUP and SIGQUIT write a byte into a pipe instead of ending the process.
// Returns the reading end of the pipe, or -1 if no pipe can be made. Call after curses has set its
// own handlers.
[[nodiscard]] int stop_signals();

}  // namespace ttmem::tui
