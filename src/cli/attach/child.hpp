// SPDX-License-Identifier: Apache-2.0
//
// Runs other programs and reads their output: the compiler, the dynamic loader, Python.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace ttmem::attach {

struct ChildOptions {
  // Variables that are set in the environment of the child, in addition to the variables of this
  // process.
  std::vector<std::pair<std::string, std::string>> environment{};
  // The current directory of the child. The default is not the current directory of this process,
  // because an interpreter, a compiler or the loader might load files from that directory.
  std::string directory = "/";
  std::string log{};        // file to which the output is appended; empty: no log
  bool errors_too = false;  // true: `output` also gets standard error
};

// How a program ended (`status` is from waitpid()), and its output.
struct Ended {
  int status = 0;
  std::string output{};

  [[nodiscard]] bool succeeded() const { return status == 0; }
};

// Runs `command` and waits for its end. Searches the program only in absolute directories of PATH.
// Without a log, Ended::output has at most the first MiB of standard output, and standard error is
// dropped unless `errors_too` is set. With a log, both streams go to the log and Ended::output is
// empty. Fails if the program cannot be started. If the output does not end within `patience`,
// kills the program and fails.
[[nodiscard]] Result<Ended> run_child(const std::vector<std::string>& command,
                                      const ChildOptions& options, std::chrono::seconds patience);

// Returns the path where execvp() would find the program, or an empty text.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace ttmem::attach
