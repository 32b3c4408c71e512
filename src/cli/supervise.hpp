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
  int not_started = 0;  // errno if the command could not be started, otherwise 0
  // Exit code of the command, or 128 plus the number of the signal that ended it.
  int exit_code = 0;
  int signal = 0;  // signal that ended the command, or 0
  // Pid of the command. 0 if its status is unknown.
  std::int32_t pid = 0;
};

// How this process handles signals for the command. With `yes`, a sender of signals sees no
// difference between this process and the command.
enum class InPlace : std::uint8_t {
  no,
  // SIGINT and SIGQUIT that are sent only to this process are also passed on to the command. A
  // SIGKILL of this process ends the command.
  yes,
};

// Runs a command, found by PATH, as a child of this process, and waits for its end. The child is in
// the same process group, so it receives the terminal's signals; this process ignores SIGINT and
// SIGQUIT meanwhile. Signals sent to this process alone (SIGTERM, SIGHUP, SIGUSR1, SIGUSR2,
// SIGCONT) are passed on. When the child stops, this process stops too. Other children of this
// process are reaped, because it may be the first process of a container.
//
// `look` is called when `watched` (-1: nothing) is readable, when the time that `look` returned is
// over, and once more when the child has ended but is still in /proc. Only for single-threaded
// programs. The signals stay blocked afterwards.
[[nodiscard]] CommandEnd supervise(const std::vector<std::string>& command, int watched,
                                   const std::function<std::chrono::milliseconds()>& look,
                                   InPlace in_place = InPlace::no);

// Ends this process by the signal that ended the command. Returns the exit code of the command if
// no signal ended it, or if the signal does not end a process.
[[nodiscard]] int end_as(const CommandEnd& end);

}  // namespace ttmem::cli
