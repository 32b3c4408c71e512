// SPDX-License-Identifier: Apache-2.0
//
// Programs that ttmem runs to get an answer: the compiler, the dynamic loader, Python.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace ttmem::attach {

struct ChildOptions {
  // Variables that are added to the child's copy of this process's environment, or replace
  // variables there.
  std::vector<std::pair<std::string, std::string>> environment{};
  // The current directory of the child. By default it is not the current directory of this process,
  // because an interpreter, a compiler or the loader may load files from there.
  std::string directory = "/";
  std::string log{};        // the output is appended to this file; if empty, see run_child()
  bool errors_too = false;  // true: `output` also gets standard error
};

// The end of a program, as waitpid() reports it.
struct Ended {
  int status = 0;
  std::string output{};

  [[nodiscard]] bool succeeded() const { return status == 0; }
};

// Runs `command`, found in an absolute directory of PATH, and waits for its end. `output` has at
// most the first MiB of standard output; standard error is dropped unless the options ask for it.
// With a log, both streams go to the log and `output` is empty. Fails if the program cannot be
// started. If the output does not end within `patience`, kills the program and fails.
[[nodiscard]] Result<Ended> run_child(const std::vector<std::string>& command,
                                      const ChildOptions& options, std::chrono::seconds patience);

// Returns the path where execvp() would find the program, or an empty text.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace ttmem::attach
