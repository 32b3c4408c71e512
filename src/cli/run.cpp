// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "cli/commands.hpp"
#include "cli/explain_failure.hpp"
#include "cli/supervise.hpp"
#include "cli/tracked_command.hpp"
#include "read/collector/run_id.hpp"
#include "read/collector/run_watch.hpp"
#include "show/views/run_summary.hpp"

namespace ttmem::cli {
namespace {

constexpr const char* kRunExamples = R"(
Examples:
  ttmem run -- python3 model.py --batch 32
  ttmem run -- pytest tests/test_model.py
  ttmem run --summary -- ./model            at the end: peaks, what is still held, who held most
  ttmem run --ops -- ./model                with operations as scopes
  ttmem run --keep-shm-tracking -- ./model  with TT-Metal's own statistics too

ttmem finds the TT-Metal that the command would load, attaches the adapter for it (`ttmem adapter`;
building it takes half a minute, once) and sets TT_ALLOC_TRACKING_ENABLED=1. The command is a child
with the same terminal. Signals are passed on, and ttmem ends like the command: with its exit code, or
by the same signal (with --summary, with 128 plus the number of the signal). If the command ran out of
memory, ttmem explains at the end why, from the state at that moment (`ttmem explain`). With
--no-explain, the command replaces ttmem in the same process.
While the adapter is attached, TT-Metal's own statistics (/dev/shm/tt_device_*_memory) are off,
because they are slow and the adapter measures the same; --keep-shm-tracking leaves them on for
programs that read them.)";

struct RunOptions {
  bool summary = false;
  bool no_explain = false;
  TrackedCommand tracked;
};

// Returns the options for text on standard error. They are the options for standard output, but
// without colour. Text is shortened only if standard error is a terminal too.
text::TextOptions stderr_text_options() {
  text::TextOptions options = text_options(ColorWhen::never);
  options.shorten = options.shorten && ::isatty(STDERR_FILENO) != 0;
  return options;
}

// Runs the command as a child. This process watches the segments and prints the summary.
int run_with_summary(const std::vector<std::string>& command, bool explain) {
  collector::RunWatch watch(segment_directory());
  const CommandEnd end = supervise(command, watch.fd(), [&] { return watch.look(); });
  if (end.not_started != 0) return cannot_run(command[0], end.not_started);
  if (explain && end.exit_code != 0) explain_failure(watch.run(), stderr_text_options());
  const std::string text = views::run_summary_text(watch.finish(), stderr_text_options());
  std::fwrite(text.data(), 1, text.size(), stderr);
  return end.exit_code;
}

// Runs the command as a child. This process does nothing until the command has ended.
int run_and_explain(const std::vector<std::string>& command) {
  const std::string run = collector::name_this_run(collector::RunRole::starts);
  constexpr std::chrono::milliseconds for_ever{-1};
  const CommandEnd end = supervise(
      command, -1, [&] { return for_ever; }, InPlace::yes);
  if (end.not_started != 0) return cannot_run(command[0], end.not_started);
  if (end.exit_code != 0) explain_failure(run, stderr_text_options());
  return end_as(end);
}

int run_command(std::vector<std::string> arguments, const RunOptions& options) {
  arguments = without_dashes(std::move(arguments));
  if (arguments.empty()) {
    return complain("run needs a command, for example: ttmem run -- python3 model.py", kUsage);
  }
  options.tracked.prepare(arguments);
  if (options.summary) return run_with_summary(arguments, !options.no_explain);
  if (!options.no_explain) return run_and_explain(arguments);
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
  Command command = app.add_subcommand(
      "run", "Run a command with tracking on: run [OPTIONS] -- CMD", kRunExamples);
  command.add_flag("--summary", options->summary,
                   "At the end, print the peaks and what is still held to standard error");
  command.add_flag("--no-explain", options->no_explain,
                   "Do not explain failures: the command replaces ttmem");
  options->tracked.add_options(command);
  command.does([&to_run, options] { return run_command(to_run, *options); });
}

}  // namespace ttmem::cli
