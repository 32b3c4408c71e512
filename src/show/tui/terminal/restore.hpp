// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ttmem::tui {

// Restores the terminal at `fd` if the process crashes. A handler for SIGSEGV, SIGBUS, SIGILL,
// SIGFPE and SIGABRT, on its own stack, writes the sequences of set_restore_sequences(), restores
// the current tcgetattr() settings, and then lets the signal take its default action. Call before
// the terminal is changed.
void restore_on_crash(int fd);
// Sets the sequences to write, once the type of the terminal is known. The sequences are cut at 500
// bytes.
void set_restore_sequences(const std::string& sequences);
// Makes the crash handlers leave the terminal unchanged. For use after the terminal was restored in
// the normal way.
void disarm_restore();

// Turns SIGINT, SIGTERM, SIGHUP and SIGQUIT into bytes in a pipe. Returns the reading end of the
// pipe, or -1 if no pipe can be made. Call after curses has set its own handlers.
[[nodiscard]] int stop_signals();

}  // namespace ttmem::tui
