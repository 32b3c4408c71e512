// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "cli/commands.hpp"
#include "cli/supervise.hpp"
#include "cli/tracked_command.hpp"
#include "collector/run_watch.hpp"
#include "views/run_summary.hpp"

namespace ttmem::cli {
namespace {

constexpr const char* kExamples = R"(
Examples:
  ttmem run -- python3 model.py --batch 32
  ttmem run -- pytest tests/test_model.py
  ttmem run --summary -- ./model            at the end: peaks, what was still held, who held most
  ttmem run --ops -- ./model                operations as scopes
  ttmem run --keep-shm-tracking -- ./model  TT-Metal's own statistics too

It finds the TT-Metal that the command would load, attaches the adapter that was built for it
(`ttmem adapter`; the first time it is built, which takes half a minute), sets
TT_ALLOC_TRACKING_ENABLED=1 and replaces itself by the command: same process, same exit code. With
--summary the command is a child, signals are passed on, and its exit code is ttmem's (128 and the
number of a signal that ended it).
While the adapter is attached, TT-Metal's own statistics (/dev/shm/tt_device_*_memory) are off,
because they are slow and the adapter measures the same; --keep-shm-tracking leaves them on for
programs that read them.)";

struct RunOptions {
  bool summary = false;
  TrackedCommand tracked;
};

// As for standard output, but nothing is cut or coloured: it goes to standard error.
views::TextOptions summary_options() {
  views::TextOptions options = text_options(ColorWhen::never);
  options.shorten = options.shorten && ::isatty(STDERR_FILENO) != 0;
  return options;
}

// The command is a child; this process watches its segments and has the last word.
int run_with_summary(const std::vector<std::string>& command) {
  collector::RunWatch watch(segment_directory());
  const CommandEnd end = supervise(command, watch.fd(), [&] { return watch.look(); });
  if (end.not_started != 0) return cannot_run(command[0], end.not_started);
  const std::string text = views::run_summary_text(watch.finish(), summary_options());
  std::fwrite(text.data(), 1, text.size(), stderr);
  return end.exit_code;
}

int run_command(std::vector<std::string> arguments, const RunOptions& options) {
  arguments = without_dashes(std::move(arguments));
  if (arguments.empty()) {
    return complain("run needs a command, for example: ttmem run -- python3 model.py", kUsage);
  }
  options.tracked.prepare(arguments);
  if (options.summary) return run_with_summary(arguments);
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  return cannot_run(arguments[0], errno);
}

}  // namespace

void add_run(Command& app, const std::vector<std::string>& to_run) {
  auto options = std::make_shared<RunOptions>();
  Command command =
      app.add_subcommand("run", "Run a command with tracking on: run [OPTIONS] -- CMD", kExamples);
  command.add_flag("--summary", options->summary,
                   "At the end, say on standard error what was used and still held");
  options->tracked.add_options(command);
  command.does([&to_run, options] { return run_command(to_run, *options); });
}

}  // namespace ttmem::cli
