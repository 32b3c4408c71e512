// SPDX-License-Identifier: Apache-2.0
#include "simulator/replay/replay.hpp"

#include <fmt/format.h>

#include <functional>
#include <memory>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "text/format.hpp"

namespace ttmem::cli {
namespace {

constexpr const char* kReplayExamples = R"(
Examples:
  ttmem replay model.jsonl --hold              the state at the end of a capture
  ttmem replay model.jsonl --lines 909 --hold  the state after its 909th line
  ttmem replay model.jsonl --speed 1           at the recorded speed
  zcat model.jsonl.gz | ttmem replay -         from standard input)";

int run_replay(const replay::ReplayOptions& options) {
  if (options.file.empty()) {
    return complain("replay needs a FILE, for example: ttmem replay model.jsonl --hold", kUsage);
  }
  const Result<replay::Replayed> replayed = replay::replay_capture(options);
  if (!replayed) return complain(replayed.error().message, kFailure);
  say(fmt::format("replayed {} of {}: {} on {}", text::plural(replayed->lines, "line", "lines"),
                  replayed->source, text::plural(replayed->events, "event", "events"),
                  text::plural(replayed->threads, "thread", "threads")));
  return kSuccess;
}

}  // namespace

void add_replay(Command& app) {
  auto options = std::make_shared<replay::ReplayOptions>();
  Command command = app.add_subcommand(
      "replay", "Repeat the calls of a capture as if they happened now", kReplayExamples);
  command.add_option("FILE", "", options->file,
                     "The capture, one JSON object per line; - is standard input");
  command.add_option("--lines", "N", options->lines, std::bind_front(parse_count, "--lines"),
                     "Stop after N lines of the file");
  command.add_flag("--hold", options->hold, "Keep the state until Ctrl-C");
  command.add_option("--speed", "X", options->speed, std::bind_front(parse_positive, "--speed"),
                     "1: at the recorded speed; default: as fast as possible");
  command.does([options] { return run_replay(*options); });
}

}  // namespace ttmem::cli
