// SPDX-License-Identifier: Apache-2.0
#include "analyse/explain/explain.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyse/explain/explanation_json.hpp"
#include "analyse/explain/explanation_text.hpp"
#include "analyse/explain/failure_message.hpp"
#include "analyse/report/find_moment.hpp"
#include "analyse/selection/select.hpp"
#include "base/environment.hpp"
#include "base/unique_fd.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/explain_failure.hpp"
#include "cli/recordings.hpp"
#include "cli/server_options.hpp"
#include "read/collector/failures.hpp"
#include "read/recording/playback/playback.hpp"
#include "text/format.hpp"

namespace ttmem::cli {
namespace {

using explain::FailureMessage;
using explain::StateSource;
using recording::Time;

constexpr const char* kExplainExamples = R"(
Examples:
  ttmem explain                               the last failure of a process, or what would fail first
  ttmem explain run.log                       the last error of a log
  python3 model.py 2>&1 | ttmem explain -     the same from a pipe
  ttmem explain run.log --recording run.ttmem with the state from a recording
  ttmem explain --recording run.ttmem         the last failure that was recorded
  ttmem explain run.log --json | jq '.suggestions[]'

ttmem explain finds TT-Metal's out-of-memory messages ("Out of Memory", "circular buffers clash",
"beyond max L1 size", "trace region" and so on) anywhere in a log. It takes the buffers that were held
from a recording, from the saved state of a process that failed under `ttmem run`, or from a process
that runs now or died, if its figures are those of the message; --pid and --at use a state in any
case. `ttmem run -- CMD` explains by itself when CMD fails.
docs/guides/explain.md lists the ways to fail and what helps.)";

struct ExplainOptions {
  std::string file;
  std::string recording;
  std::optional<std::string> at;
  std::optional<std::int32_t> pid;
};

// Returns true for a warning. A warning is only explained if the log has no error.
bool is_warning(const FailureMessage& failure) {
  return failure.what == FailureMessage::What::active_trace;
}

// Finds the last error of a log, or the last warning if the log has no error. The caller passes the
// log in pieces. The log and its lines may have any length, because at most kMaxTextBytes of the
// log are stored.
class LastFailure {
 public:
  void read(std::string_view piece) {
    while (!piece.empty()) {
      const std::string_view fits = piece.substr(0, kMaxTextBytes - text_.size());
      text_ += fits;
      // "\r" also ends a line, because a progress bar rewrites its line after "\r".
      std::replace(text_.end() - static_cast<std::ptrdiff_t>(fits.size()), text_.end(), '\r', '\n');
      piece.remove_prefix(fits.size());
      if (text_.size() == kMaxTextBytes) look_and_keep_end();
    }
  }

  [[nodiscard]] std::optional<FailureMessage> finish() {
    look();
    return std::move(last_);
  }

 private:
  static constexpr std::size_t kMaxTextBytes = std::size_t{1} << 16;
  static constexpr std::size_t kMaxMessageBytes = std::size_t{1} << 13;

  // Looks for failures in `text_`, then keeps only the last lines of `text_`, because a message may
  // continue in the next piece. A message in the kept lines is found twice. This is harmless,
  // because only the last message counts.
  void look_and_keep_end() {
    look();
    constexpr std::size_t from = kMaxTextBytes - kMaxMessageBytes;
    const std::size_t line = text_.rfind('\n', from);
    const bool is_near = line != std::string::npos && line >= from - kMaxMessageBytes;
    text_.erase(0, is_near ? line + 1 : from);
  }

  void look() {
    for (FailureMessage& failure : explain::find_failures(text_)) {
      if (!last_ || is_warning(*last_) || !is_warning(failure)) last_ = std::move(failure);
    }
  }

  std::string text_;  // shorter than kMaxTextBytes between two calls of read()
  std::optional<FailureMessage> last_;
};

// Returns the last failure in a log. Fails if the log cannot be read. The message of the error is
// the reason.
Result<std::optional<FailureMessage>> last_failure_in(int fd) {
  LastFailure last;
  std::vector<char> buffer(std::size_t{1} << 16);
  for (;;) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count == 0) return last.finish();
    if (count > 0) {
      last.read({buffer.data(), static_cast<std::size_t>(count)});
    } else if (errno != EINTR) {
      return Error{std::strerror(errno)};
    }
  }
}

Result<std::optional<FailureMessage>> last_failure(const std::string& file) {
  if (file.empty()) return std::optional<FailureMessage>();
  const bool is_stdin = file == "-";
  const std::string name = is_stdin ? "standard input" : file;
  const UniqueFd opened(is_stdin ? -1 : ::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!is_stdin && !opened) {
    return Error{fmt::format("cannot read {}: {}", name, std::strerror(errno))};
  }
  auto found = last_failure_in(is_stdin ? STDIN_FILENO : opened.get());
  if (!found) return Error{fmt::format("cannot read {}: {}", name, found.error().message)};
  if (*found) return found;
  return Error{
      fmt::format("{} has no error about memory that ttmem knows; without a log it says "
                  "what would fail first: ttmem explain",
                  name)};
}

// The failure to explain, and the state from which it is explained.
struct Case {
  std::optional<FailureMessage> failure;
  model::Snapshot state;
  std::optional<std::int32_t> pid;
  StateSource source = StateSource::bystander;
};

// Returns true if `text` contains a message that can be about the same failure as `failure`. `text`
// comes from a process or a recording. Without `failure`, every text matches.
bool matches_message(const std::string& text, const std::optional<FailureMessage>& failure) {
  const std::vector<FailureMessage> said = explain::find_failures(text);
  return !failure || std::any_of(said.begin(), said.end(), [&](const FailureMessage& one) {
    return explain::can_be_same(one, *failure);
  });
}

// Returns the figures by which the moment of the failure can be found in a recording. Returns
// nullopt if the message contains no such figures.
std::optional<report::MomentFigures> figures_of(const FailureMessage& failure) {
  switch (failure.what) {
    case FailureMessage::What::out_of_memory:
      if (!failure.kind || (!failure.free_per_bank && !failure.largest_free_per_bank)) break;
      return report::MomentFigures{.kind = *failure.kind,
                                   .free_per_bank = failure.free_per_bank,
                                   .largest_free_per_bank = failure.largest_free_per_bank};
    case FailureMessage::What::clash:
      if (!failure.l1_address || !failure.cb_end) break;
      return report::MomentFigures{.lowest_l1 = failure.l1_address, .cb_end = failure.cb_end};
    case FailureMessage::What::beyond_l1:
      if (!failure.cb_end || !failure.l1_bytes) break;
      // Recorded circular buffers end at the end of L1 at the latest.
      return report::MomentFigures{.cb_end = std::min(*failure.cb_end, *failure.l1_bytes)};
    default:
      break;
  }
  return std::nullopt;
}

// Returns the moment of a recording at which the least memory was available for the request in the
// failure message.
Result<Time> tightest_moment(const ExplainOptions& options, const CommonOptions& common,
                             const std::optional<FailureMessage>& failure,
                             recording::Reader& reader) {
  const auto report = load_report(options.recording, common.devices, reader);
  if (!report) return report.error();
  std::optional<report::Extreme> least;
  for (const report::DeviceReport& device : report->devices) {
    const bool is_request = failure && failure->what == FailureMessage::What::out_of_memory;
    const auto& each = is_request ? device.least_largest_free[failure->kind.value_or(Kind::l1)]
                                  : device.least_headroom;
    if (each && (!least || each->bytes < least->bytes)) least = each;
  }
  return least ? least->time_ns : reader.end_ns();
}

// Returns the last moment of a recording that has the figures of the message, or the tightest
// moment if no moment has these figures.
Result<Time> likely_moment(const ExplainOptions& options, const CommonOptions& common,
                           const std::optional<FailureMessage>& failure,
                           recording::Reader& reader) {
  const auto figures = failure ? figures_of(*failure) : std::nullopt;
  if (figures) {
    auto found = report::last_moment_with(*figures, options.pid, reader,
                                          progress_for(reader, options.recording));
    if (!found) return found.error();
    if (*found) return **found;
  }
  return tightest_moment(options, common, failure, reader);
}

// Returns the state at the failure in the recording. If the recording has no failure, returns the
// state at the most likely moment.
Result<Case> recorded_case(const ExplainOptions& options, const CommonOptions& common,
                           std::optional<FailureMessage> failure) {
  auto reader = recording::Reader::open(options.recording);
  if (!reader) return reader.error();
  const recording::RecordedFailure* recorded = nullptr;
  for (const recording::RecordedFailure& one : (*reader)->tables().failures) {
    const std::int32_t pid = (*reader)->tables().process(one.process).pid;
    const bool is_asked_for = !options.pid || pid == *options.pid;
    if (!options.at && is_asked_for && matches_message(one.text, failure)) recorded = &one;
  }
  std::optional<std::int32_t> pid = options.pid;
  StateSource source = pid || options.at ? StateSource::chosen : StateSource::recording;
  Result<Time> time = Time{0};
  if (recorded != nullptr) {
    // Takes the state 1 ns before the failure. The frees that the failure caused have the same time
    // as the failure, and the freed buffers must still be there.
    time = recorded->time_ns - 1;
    source = StateSource::failure;
    pid = (*reader)->tables().process(recorded->process).pid;
    const std::vector<FailureMessage> said = explain::find_failures(recorded->text);
    if (!failure && !said.empty()) failure = said.front();
  } else if (options.at) {
    time = moment_of(*options.at, options.recording, common.devices, **reader);
  } else {
    time = likely_moment(options, common, failure, **reader);
  }
  if (!time) return time.error();
  recording::Playback playback(**reader, recording::AfterClose::kept);
  if (const auto done = playback.advance_to(*time); !done) return done.error();
  return Case{std::move(failure), playback.snapshot(), pid, source};
}

// Returns the newest failure that matches the message and has a saved state. If the user gave no
// message, prints each failure that is looked at.
std::optional<Case> kept_case(const ExplainOptions& options,
                              const std::optional<FailureMessage>& failure) {
  collector::Failures found = collector::failures(segment_directory());
  print_warnings(found.warnings);
  print_warnings(found.denied);
  for (collector::Failure& one : found.list) {
    const bool is_asked_for = !options.pid || one.pid == *options.pid;
    if (!is_asked_for || !matches_message(one.text, failure)) continue;
    if (!failure) {
      say_failed(one);
      say_failed_command(one);
    }
    const std::vector<FailureMessage> said = explain::find_failures(one.text);
    if (said.empty() || !one.not_kept.empty()) continue;
    return Case{said.front(), std::move(one.snapshot), one.pid, StateSource::failure};
  }
  return std::nullopt;
}

Result<Case> case_of(const ExplainOptions& options, const CommonOptions& common) {
  Result<std::optional<FailureMessage>> failure = last_failure(options.file);
  if (!failure) return failure.error();
  if (!options.recording.empty()) return recorded_case(options, common, *std::move(failure));
  if (auto kept = kept_case(options, *failure)) return *std::move(kept);
  Result<model::Snapshot> now = current_snapshot(CommonOptions());
  if (!now) return now.error();
  return Case{*std::move(failure), *std::move(now), options.pid,
              options.pid ? StateSource::chosen : StateSource::bystander};
}

int explain_command(const ExplainOptions& options, const CommonOptions& common) {
  if (options.at && options.recording.empty()) {
    return complain("--at is a moment of a recording; name it with --recording FILE", kUsage);
  }
  Result<Case> found = case_of(options, common);
  if (!found) return complain(found.error().message, kFailure);
  if (!common.devices.empty()) {
    const auto missing = selection::missing_devices(found->state, common.devices);
    if (!missing.empty()) {
      return complain(fmt::format("no device {} at that moment", text::format_names(missing)),
                      kFailure);
    }
    found->state = selection::select_devices(std::move(found->state), common.devices);
  }
  const explain::Explanation explanation = explain::explain({.failure = std::move(found->failure),
                                                             .state = &found->state,
                                                             .pid = found->pid,
                                                             .source = found->source});
  return print(common.json ? explain::explanation_json(explanation)
                           : explain::explanation_text(explanation, text_options(common)));
}

}  // namespace

void add_explain(Command& app, CommonOptions& common) {
  auto options = std::make_shared<ExplainOptions>();
  Command command = app.add_subcommand(
      "explain", "Why an allocation failed, what is in the way, the smallest change that fits",
      kExplainExamples);
  command.add_option("file", "FILE", options->file, "A log with the error; - is standard input");
  add_common(command, common);
  command.add_option("--pid", "PID", options->pid, parse_pid,
                     "The process that failed; its state is used in any case");
  command.add_option("--recording", "FILE", options->recording,
                     "Take the state from this recording of `ttmem record`");
  command.add_option("--at", "MOMENT", options->at, parse_for("--at", check_moment),
                     "The moment of the recording: 12.5s, peak, end (default: the tightest)");
  command.does([options, &common] { return explain_command(*options, common); });
}

}  // namespace ttmem::cli
