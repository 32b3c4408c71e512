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
  ttmem run --summary -- ./model            at the end: peaks, what was still held, who held most
  ttmem run --ops -- ./model                operations as scopes
  ttmem run --keep-shm-tracking -- ./model  TT-Metal's own statistics too

It finds the TT-Metal that the command would load, attaches the adapter that was built for it
(`ttmem adapter`; the first time it is built, which takes half a minute) and sets
TT_ALLOC_TRACKING_ENABLED=1. The command is a child with the same terminal, signals are passed on,
and ttmem ends as it did: with its exit code, or by the same signal (with --summary, 128 and its
number). When the command failed because memory did not suffice, the end says why, from what was
held at that moment (`ttmem explain`). --no-explain replaces ttmem by the command: same process.
While the adapter is attached, TT-Metal's own statistics (/dev/shm/tt_device_*_memory) are off,
because they are slow and the adapter measures the same; --keep-shm-tracking leaves them on for
programs that read them.)";

struct RunOptions {
  bool summary = false;
  bool no_explain = false;
  TrackedCommand tracked;
};

// As for standard output, but nothing is cut or coloured: it goes to standard error.
text::TextOptions last_words() {
  text::TextOptions options = text_options(ColorWhen::never);
  options.shorten = options.shorten && ::isatty(STDERR_FILENO) != 0;
  return options;
}

// The command is a child; this process watches its segments and has the last word.
int run_with_summary(const std::vector<std::string>& command, bool explain) {
  collector::RunWatch watch(segment_directory());
  const CommandEnd end = supervise(command, watch.fd(), [&] { return watch.look(); });
  if (end.not_started != 0) return cannot_run(command[0], end.not_started);
  if (explain && end.exit_code != 0) explain_failure(watch.run(), last_words());
  const std::string text = views::run_summary_text(watch.finish(), last_words());
  std::fwrite(text.data(), 1, text.size(), stderr);
  return end.exit_code;
}

// The command is a child, and this process does nothing until it has ended.
int run_and_explain(const std::vector<std::string>& command) {
  const std::string run = collector::name_this_run(collector::RunRole::starts);
  constexpr std::chrono::milliseconds for_ever{-1};
  const CommandEnd end = supervise(
      command, -1, [&] { return for_ever; }, InPlace::yes);
  if (end.not_started != 0) return cannot_run(command[0], end.not_started);
  if (end.exit_code != 0) explain_failure(run, last_words());
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
                   "At the end, say on standard error what was used and still held");
  command.add_flag("--no-explain", options->no_explain,
                   "Say nothing when memory did not suffice, and become the command");
  options->tracked.add_options(command);
  command.does([&to_run, options] { return run_command(to_run, *options); });
}

}  // namespace ttmem::cli
