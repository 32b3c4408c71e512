// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapter/adapter.hpp"
#include "adapter/installation.hpp"
#include "adapter/runtime_library.hpp"
#include "base/environment.hpp"
#include "cli/commands.hpp"
#include "cli/supervise.hpp"
#include "collector/run_watch.hpp"
#include "views/run_summary.hpp"

namespace ttmem::cli {
namespace {

constexpr const char* kExamples = R"(
Examples:
  ttmem run -- python3 model.py --batch 32
  ttmem run -- pytest tests/test_model.py
  ttmem run --summary -- ./model            at the end: peaks, what was still held, who held most
  ttmem run --ops -- ./model                names of operations as labels
  ttmem run --keep-shm-tracking -- ./model  TT-Metal's own statistics too

It finds the TT-Metal that the command would load, attaches the adapter that was built for it
(`ttmem adapter`; the first time it is built, which takes half a minute), sets
TT_ALLOC_TRACKING_ENABLED=1 and replaces itself by the command: same process, same exit code. With
--summary the command is a child, signals are passed on, and its exit code is ttmem's (128 and the
number of a signal that ended it).
While the adapter is attached, TT-Metal's own statistics (/dev/shm/tt_device_*_memory) are off,
because they are slow and the adapter measures the same; --keep-shm-tracking leaves them on for
programs that read them.)";

// The exit codes of shells: command not found, and command that cannot be started.
constexpr int kNotFound = 127;
constexpr int kNotStarted = 126;

struct RunOptions {
  bool summary = false;
  std::string library;
  bool ops = false;
  bool keep_shm_tracking = false;
  bool no_adapter = false;
};

int cannot_run(const std::string& command, int reason) {
  const bool missing = reason == ENOENT;
  say(fmt::format("cannot run '{}': {}; {}", command, std::strerror(reason),
                  missing ? "check its spelling and PATH" : "check that it is an executable file"));
  return missing ? kNotFound : kNotStarted;
}

void say_without(const std::string& library, const std::string& why) {
  say(fmt::format("no adapter{}: {} (without it, only what the program reports itself is seen)",
                  library.empty() ? "" : " for " + library, why));
}

// The adapter for what the command would load. None, after a line that says why, when it cannot be
// had; none without a word when there is no TT-Metal.
std::optional<std::string> adapter_for(const std::vector<std::string>& command,
                                       const std::string& given,
                                       const adapter::Installation& installation) {
  const auto library = adapter::find_runtime(command, given);
  if (!library) {
    say_without("", library.error().message);
    return std::nullopt;
  }
  if (!*library) return std::nullopt;
  const std::string& path = (*library)->path;
  // The dynamic loader takes both as the end of a name.
  if (installation.stub.find_first_of(" :") != std::string::npos) {
    say_without(path,
                fmt::format("{} cannot be preloaded, its path has a blank or a colon; install "
                            "ttmem elsewhere",
                            installation.stub));
    return std::nullopt;
  }
  const auto found =
      adapter::find_or_build(**library, installation, {.headers = {}, .begins = say_building});
  if (!found) {
    say_without(path, found.error().message);
    return std::nullopt;
  }
  return found->adapter();
}

// After what is preloaded already, which may have to be the first (sanitizers), unless it is among
// that: `ttmem run` may run `ttmem run`.
void preload(const std::string& stub) {
  const std::string before = environment("LD_PRELOAD");
  if ((":" + before + ":").find(":" + stub + ":") != std::string::npos) return;
  setenv("LD_PRELOAD", (before.empty() ? stub : before + ":" + stub).c_str(), 1);
}

// As for standard output, but nothing is cut or coloured: it goes to standard error.
views::TextOptions summary_options() {
  views::TextOptions options = text_options(ColorWhen::never);
  options.shorten = options.shorten && ::isatty(STDERR_FILENO) != 0;
  return options;
}

void prepare_environment(const std::vector<std::string>& command, const RunOptions& options) {
  setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);
  if (options.no_adapter) return;
  const adapter::Installation installation = adapter::installation();
  const auto adapter = adapter_for(command, options.library, installation);
  if (!adapter) return;
  preload(installation.stub);
  setenv("TTMEM_ADAPTER", adapter->c_str(), 1);
  if (options.ops) setenv("TTMEM_OPS", "1", 1);
  if (!options.keep_shm_tracking) setenv("TT_METAL_SHM_TRACKING_DISABLED", "1", 1);
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
  if (!arguments.empty() && arguments[0] == "--") arguments.erase(arguments.begin());
  if (arguments.empty()) {
    return complain("run needs a command, for example: ttmem run -- python3 model.py", kUsage);
  }
  prepare_environment(arguments, options);
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
  command.add_flag("--ops", options->ops, "Label what is taken with the operation that takes it");
  command.add_flag("--keep-shm-tracking", options->keep_shm_tracking,
                   "Leave TT-Metal's own statistics on");
  command.add_flag("--no-adapter", options->no_adapter,
                   "Track only what the program reports itself");
  command.add_option("--library", "PATH", options->library,
                     "The library with TT-Metal's runtime, when it is not found by itself");
  command.does([&to_run, options] { return run_command(to_run, *options); });
}

}  // namespace ttmem::cli
