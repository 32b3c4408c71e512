// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ttmem::cli {

// How a supervised command ended.
struct CommandEnd {
  int not_started = 0;  // errno when it could not be started; 0: it ran
  int exit_code = 0;    // its own, or 128 and the number of the signal that ended it
  int signal = 0;       // that ended it; 0: none
};

// Whether whoever started this process should find the command in its place.
enum class InPlace : std::uint8_t {
  no,
  // SIGINT and SIGQUIT that somebody sends to this process alone are passed on too, and a SIGKILL
  // of this process ends the command.
  yes,
};

// Runs a command, found by PATH, as a child of this process and waits for its end, as if this
// process was not there: the child is in the same process group, so that the terminal's signals
// reach it, and this process ignores SIGINT and SIGQUIT meanwhile. What is sent to this process
// alone (SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT) is passed on. When the child stops, so does
// this process. Other children of this process are reaped: it may be the first process of a
// container.
//
// `look` is called when `watched` (-1: nothing) is readable, or when the time that it returned is
// over, and once more when the child has ended and is still in /proc. Single-threaded programs
// only; those signals stay blocked.
[[nodiscard]] CommandEnd supervise(const std::vector<std::string>& command, int watched,
                                   const std::function<std::chrono::milliseconds()>& look,
                                   InPlace in_place = InPlace::no);

// Ends this process as the command ended, by the same signal if it was one. Returns the exit code
// where it was none, or where that signal does not end a process.
[[nodiscard]] int end_as(const CommandEnd& end);

}  // namespace ttmem::cli
