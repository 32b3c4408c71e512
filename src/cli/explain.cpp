// SPDX-License-Identifier: Apache-2.0
#include "explain/explain.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/recordings.hpp"
#include "explain/explanation_json.hpp"
#include "explain/explanation_text.hpp"
#include "explain/failure.hpp"
#include "recording/playback/playback.hpp"
#include "views/select.hpp"

namespace ttmem::cli {
namespace {

using explain::Failure;
using recording::Time;

constexpr const char* kExamples = R"(
Examples:
  ttmem explain run.log                       the last error of a log
  python3 model.py 2>&1 | ttmem explain -     the same from a pipe
  ttmem explain run.log --recording run.ttmem with who held what, from a recording
  ttmem explain --pid 4711                    nothing has failed: what would fail first
  ttmem explain run.log --json | jq '.suggestions[]'

It reads what TT-Metal says when memory does not suffice ("Out of Memory", "circular buffers clash",
"beyond max L1 size", "trace region" and so on), anywhere in a log. Who held what comes from the
processes that run now or died, or from a recording. `ttmem run -- CMD` explains by itself when CMD
fails. docs/explain.md has the ways to fail and what helps.)";

struct ExplainOptions {
  std::string file;
  std::string recording;
  std::optional<std::string> at;
  std::optional<std::int32_t> pid;
};

// A log, which may be long: line by line.
std::vector<Failure> failures_in(std::istream& log) {
  std::vector<Failure> found;
  for (std::string line; std::getline(log, line);) {
    for (Failure& failure : explain::find_failures(line)) found.push_back(std::move(failure));
  }
  return found;
}

Result<std::optional<Failure>> last_failure(const std::string& file) {
  if (file.empty()) return std::optional<Failure>();
  std::ifstream opened;
  if (file != "-") {
    opened.open(file);
    if (!opened) return Error{fmt::format("cannot read {}: {}", file, std::strerror(errno))};
  }
  std::vector<Failure> found = failures_in(file == "-" ? std::cin : opened);
  if (found.empty()) {
    return Error{
        fmt::format("{} has no error about memory that ttmem knows; without a log it says "
                    "what would fail first: ttmem explain",
                    file == "-" ? "standard input" : file)};
  }
  return std::optional(std::move(found.back()));
}

// When there was least room for what the message is about.
Result<Time> tightest_moment(const ExplainOptions& options, const CommonOptions& common,
                             const std::optional<Failure>& failure, recording::Reader& reader) {
  const auto report = load_report(options.recording, common.devices, reader);
  if (!report) return report.error();
  std::optional<report::Extreme> least;
  for (const report::DeviceReport& device : report->devices) {
    const bool is_request = failure && failure->what == Failure::What::out_of_memory;
    const auto& each = is_request ? device.least_largest_free[failure->kind.value_or(Kind::l1)]
                                  : device.least_headroom;
    if (each && (!least || each->bytes < least->bytes)) least = each;
  }
  return least ? least->time_ns : reader.end_ns();
}

Result<model::Snapshot> recorded_state(const ExplainOptions& options, const CommonOptions& common,
                                       const std::optional<Failure>& failure) {
  auto reader = recording::Reader::open(options.recording);
  if (!reader) return reader.error();
  const Result<Time> time =
      options.at ? moment_of(*options.at, options.recording, common.devices, **reader)
                 : tightest_moment(options, common, failure, **reader);
  if (!time) return time.error();
  recording::Playback playback(**reader, recording::AfterClose::kept);
  if (const auto done = playback.advance_to(*time); !done) return done.error();
  return playback.snapshot();
}

Result<model::Snapshot> state_of(const ExplainOptions& options, const CommonOptions& common,
                                 const std::optional<Failure>& failure) {
  if (options.recording.empty()) return current_snapshot(common.devices);
  Result<model::Snapshot> state = recorded_state(options, common, failure);
  if (!state || common.devices.empty()) return state;
  return views::select_devices(*std::move(state), common.devices);
}

int explain_command(const ExplainOptions& options, const CommonOptions& common) {
  if (options.at && options.recording.empty()) {
    return complain("--at is a moment of a recording; name it with --recording FILE", kUsage);
  }
  const auto failure = last_failure(options.file);
  if (!failure) return complain(failure.error().message, kFailure);
  const Result<model::Snapshot> state = state_of(options, common, *failure);
  if (!state) return complain(state.error().message, kFailure);
  const explain::Explanation explanation =
      explain::explain({.failure = *failure, .state = &*state, .pid = options.pid});
  return print(common.json ? explain::explanation_json(explanation)
                           : explain::explanation_text(explanation, text_options(common)));
}

}  // namespace

void add_explain(Command& app, CommonOptions& common) {
  auto options = std::make_shared<ExplainOptions>();
  Command command = app.add_subcommand(
      "explain", "Why an allocation failed, who is in the way, the smallest change that fits",
      kExamples);
  command.add_option("file", "FILE", options->file, "A log with the error; - is standard input");
  add_common(command, common);
  command.add_option("--pid", "PID", options->pid, parse_pid, "The process that failed");
  command.add_option("--recording", "FILE", options->recording,
                     "Who held what comes from this recording of `ttmem record`");
  command.add_option("--at", "MOMENT", options->at, parse_for("--at", check_moment),
                     "The moment of the recording: 12.5s, peak, end (else the tightest one)");
  command.does([options, &common] { return explain_command(*options, common); });
}

}  // namespace ttmem::cli
