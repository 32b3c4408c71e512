// SPDX-License-Identifier: Apache-2.0
//
// Other programs that are asked something: the compiler, the dynamic loader, Python.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace ttmem::adapter {

struct ChildOptions {
  std::vector<std::pair<std::string, std::string>> environment{};  // in addition to this process's
  std::string directory{};  // to run in; empty: the current one
  std::string log{};        // a file that gets what it prints, at its end; empty: see run_child()
  bool errors_too = false;  // `output` has its standard error as well
};

// The end of a program, as waitpid() tells it.
struct Ended {
  int status = 0;
  std::string output{};

  [[nodiscard]] bool succeeded() const { return status == 0; }
};

// Runs `command`, found by PATH, and waits for it. `output` is what it printed on standard output,
// at most the first MiB; its standard error is thrown away unless the options want it. With a log
// both go there, and `output` is empty. It is killed when its output does not end within
// `patience`, which is an Error, as is a program that cannot be started.
[[nodiscard]] Result<Ended> run_child(const std::vector<std::string>& command,
                                      const ChildOptions& options, std::chrono::seconds patience);

// Where execvp() would find it; empty: nowhere.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace ttmem::adapter
