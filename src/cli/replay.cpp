// SPDX-License-Identifier: Apache-2.0
#include "workload/replay/replay.hpp"

#include <fmt/format.h>

#include <memory>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "views/format.hpp"

namespace ttmem::cli {
namespace {

struct ReplayOptions {
  std::string file;
  std::string lines;
  std::string speed;
  bool hold = false;
};

constexpr const char* kExamples = R"(
Examples:
  ttmem replay model.jsonl --hold              the state at the end of a capture
  ttmem replay model.jsonl --lines 909 --hold  the state after its 909th line
  ttmem replay model.jsonl --speed 1           as fast as it was recorded)";

Result<replay::Options> values_of(const ReplayOptions& typed) {
  if (typed.file.empty()) {
    return Error{"replay needs a FILE, for example: ttmem replay model.jsonl --hold"};
  }
  replay::Options options;
  options.file = typed.file;
  options.hold = typed.hold;
  if (!typed.lines.empty()) {
    const Result<std::uint64_t> lines = parse_count("--lines", typed.lines);
    if (!lines) return lines.error();
    options.lines = *lines;
  }
  if (!typed.speed.empty()) {
    const Result<double> speed = parse_positive("--speed", typed.speed);
    if (!speed) return speed.error();
    options.speed = *speed;
  }
  return options;
}

int run_replay(const ReplayOptions& typed) {
  const Result<replay::Options> options = values_of(typed);
  if (!options) return complain(options.error().message, kUsage);
  const Result<replay::Replayed> replayed = replay::replay_capture(*options);
  if (!replayed) return complain(replayed.error().message, kFailure);
  say(fmt::format("replayed {} of {}: {} on {}", views::plural(replayed->lines, "line", "lines"),
                  options->file, views::plural(replayed->events, "event", "events"),
                  views::plural(replayed->threads, "thread", "threads")));
  return kSuccess;
}

}  // namespace

void add_replay(Command& app, Action& action) {
  auto options = std::make_shared<ReplayOptions>();
  Command command =
      app.add_subcommand("replay", "Feed a capture through the tracker as if it happened now");
  command.add_option("FILE", options->file, "The capture: one JSON object a line").type_name("");
  command.add_option("--lines", options->lines, "Stop after N lines of the file").type_name("N");
  command.add_flag("--hold", options->hold, "Keep the state until Ctrl-C");
  command.add_option("--speed", options->speed, "1: as recorded; default: as fast as possible")
      .type_name("X");
  command.footer(kExamples);
  command.callback([options, &action] { action = [options] { return run_replay(*options); }; });
}

}  // namespace ttmem::cli
