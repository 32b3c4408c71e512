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

// Whether this process acts in place of the command. With `yes`, signals to this process have the
// same effect as signals to the command.
enum class InPlace : std::uint8_t {
  no,
  // In addition, SIGINT and SIGQUIT that were sent only to this process are passed on to the
  // command, and a SIGKILL of this process ends the command.
  yes,
};

// Runs a command, found by PATH, as a child of this process, and waits for its end. The child is in
// the same process group, so it receives the terminal's signals itself. Until the child ends,
// SIGINT and SIGQUIT do not end this process. Passes on SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 and
// SIGCONT if they were sent to this process alone. When the child stops, this process stops too.
// Other children of this process are reaped, because it may be the first process of a container.
//
// Calls `look` when the descriptor `watched` (-1: none) is readable, when the time that `look`
// returned has passed, and once more when the child has ended but is still in /proc. Only for
// single-threaded programs. The signals stay blocked afterwards.
[[nodiscard]] CommandEnd supervise(const std::vector<std::string>& command, int watched,
                                   const std::function<std::chrono::milliseconds()>& look,
                                   InPlace in_place = InPlace::no);

// Ends this process by the signal that ended the command. Returns the exit code of the command if
// no signal ended the command, or if the signal does not end this process.
[[nodiscard]] int end_as(const CommandEnd& end);

}  // namespace ttmem::cli
