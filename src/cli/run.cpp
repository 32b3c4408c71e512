// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/commands.hpp"

namespace ttmem::cli {
namespace {

constexpr const char* kExamples = R"(
Examples:
  ttmem run -- python3 model.py --batch 32
  ttmem run -- pytest tests/test_model.py

It sets TT_ALLOC_TRACKING_ENABLED=1 and replaces itself by the command: same process, same exit code.)";

// The exit codes of shells: command not found, and command that cannot be started.
constexpr int kNotFound = 127;
constexpr int kNotStarted = 126;

int cannot_run(const std::string& command, int reason) {
  const bool missing = reason == ENOENT;
  say(fmt::format("cannot run '{}': {}; {}", command, std::strerror(reason),
                  missing ? "check its spelling and PATH" : "check that it is an executable file"));
  return missing ? kNotFound : kNotStarted;
}

int run_command(std::vector<std::string> arguments) {
  const bool separated = !arguments.empty() && arguments[0] == "--";
  if (separated) arguments.erase(arguments.begin());
  if (arguments.empty()) {
    return complain("run needs a command, for example: ttmem run -- python3 model.py", kUsage);
  }
  if (!separated && arguments[0].starts_with("-")) {
    return complain(
        fmt::format("unknown option {} for `ttmem run`; write ttmem run -- CMD", arguments[0]),
        kUsage);
  }
  setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  return cannot_run(arguments[0], errno);
}

}  // namespace

void add_run(Command& app, const std::vector<std::string>& to_run) {
  app.add_subcommand("run", "Run a command with tracking on: run -- CMD", kExamples)
      .does([&to_run] { return run_command(to_run); });
}

}  // namespace ttmem::cli
