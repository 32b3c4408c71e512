// SPDX-License-Identifier: Apache-2.0
#include "cli/record_server.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "base/plural.hpp"
#include "base/shell_quote.hpp"
#include "base/unique_fd.hpp"
#include "cli/attach/cache.hpp"
#include "cli/server_options.hpp"
#include "cli/terminal.hpp"
#include "read/recording/file/sources.hpp"
#include "read/recording/file/writer.hpp"
#include "read/recording/looks/look_recorder.hpp"
#include "read/remote/ask.hpp"
#include "read/remote/mirror.hpp"
#include "text/format.hpp"

namespace ttmem::cli {
namespace {

constexpr recording::Time kLookPause = 500'000'000;

// After a signal, the last look has no longer than this.
constexpr std::chrono::seconds kLastLook{2};

// SIGINT and its like, as something to wait for: none of them ends the program by itself.
class Signals {
 public:
  Signals() {
    sigemptyset(&numbers_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&numbers_, number);
    sigprocmask(SIG_BLOCK, &numbers_, nullptr);
    come_ = UniqueFd(::signalfd(-1, &numbers_, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  [[nodiscard]] int fd() const { return come_.get(); }

  // Whether one has come by then, and was not taken.
  [[nodiscard]] bool wait(int at_most_ms) const {
    pollfd ready{come_.get(), POLLIN, 0};
    return ::poll(&ready, 1, at_most_ms) > 0;
  }
  void take() const {
    signalfd_siginfo ignored{};
    static_cast<void>(!::read(come_.get(), &ignored, sizeof ignored));
  }
  // From now on they end the program again, also one that has come and was not taken.
  void let_through() const { sigprocmask(SIG_UNBLOCK, &numbers_, nullptr); }

 private:
  sigset_t numbers_{};
  UniqueFd come_;
};

// Asks for everything only when something has changed.
class Watch {
 public:
  // Everything, or nothing because nothing has changed.
  using Seen = remote::Answer<std::optional<model::Snapshot>>;

  Watch(const remote::Address& server, remote::ClientOptions options)
      : server_(server), options_(std::move(options)) {}

  // From now on no question takes longer than this.
  void hurry(std::chrono::milliseconds timeout) {
    options_.timeout = std::min(options_.timeout, timeout);
  }

  [[nodiscard]] Seen look() {
    auto answer = remote::ask_snapshot(server_, remote::Lists::all, options_);
    if (answer.failed) return answer.fault;
    owed_ = false;
    return std::optional(std::move(answer.value));
  }

  // Looks if there may be something new since the last look that was answered.
  [[nodiscard]] Seen look_if_changed() {
    if (auto fault = ask_whether_changed()) return std::move(*fault);
    return owed_ ? look() : std::optional<model::Snapshot>();
  }

  // What comes after this is a change.
  [[nodiscard]] std::optional<remote::Fault> ask_whether_changed() {
    const auto answer = remote::fetch(server_, mirror_.target(), remote::kMaxFigureBytes, options_);
    if (answer.failed) return answer.fault;
    if (auto fault = mirror_.take(answer.value)) return fault;
    const auto before = std::exchange(number_, mirror_.list_number());
    owed_ = owed_ || !number_ || number_ != before;
    return std::nullopt;
  }

 private:
  const remote::Address& server_;
  remote::ClientOptions options_;
  remote::Mirror mirror_{remote::Mirror::Detail::brief};
  std::optional<std::uint64_t> number_;
  bool owed_ = true;  // a change is known that no look has seen: a look may fail
};

class Recording {
 public:
  Recording(std::unique_ptr<recording::Writer> writer, std::optional<std::int32_t> pid,
            std::uint64_t began_ns)
      : writer_(std::move(writer)), recorder_(*writer_, pid), began_ns_(began_ns) {}

  [[nodiscard]] recording::Time now() const {
    return static_cast<recording::Time>(clock_ns(CLOCK_MONOTONIC) - began_ns_);
  }
  [[nodiscard]] Result<void> take(const model::Snapshot& snapshot) {
    recorder_.look(snapshot, now());
    return writer_->commit();
  }
  [[nodiscard]] Result<void> finish(recording::Run& run) {
    run.ended_ns = now();
    run.events = recorder_.events();
    return writer_->finish(run);
  }
  [[nodiscard]] const recording::LookRecorder& recorder() const { return recorder_; }

 private:
  std::unique_ptr<recording::Writer> writer_;
  recording::LookRecorder recorder_;
  std::uint64_t began_ns_;
};

// Says once that the server does not answer, and once that it does again.
class Silence {
 public:
  explicit Silence(const remote::Address& server) : server_(server) {}

  void note(const remote::Fault& fault) {
    if (std::exchange(silent_, true)) return;
    say(fmt::format("{}; what happens until it answers is missing",
                    remote::error_of(server_, fault).message));
  }
  void is_over() {
    if (std::exchange(silent_, false)) say(server_.url() + " answers again");
  }

 private:
  const remote::Address& server_;
  bool silent_ = false;
};

// Until a signal, the end of the time, or the end of the process. Fails when the file cannot be
// written.
Result<void> watch_until_told(Watch& watch, Recording& recording, Silence& silence,
                              const RecordServerOptions& options, const Signals& signals) {
  for (;;) {
    const recording::Time left =
        options.duration.value_or(recording.now() + kLookPause) - recording.now();
    const auto pause = std::clamp<recording::Time>(left, 0, kLookPause) / 1'000'000;
    const bool told = signals.wait(static_cast<int>(pause));
    if (told) {
      signals.take();  // a second one gives the last look up
      watch.hurry(kLastLook);
    }
    const bool over = told || (options.duration && recording.now() >= *options.duration);
    // The last look is at what is there then, whatever the server's last pass has found.
    const Watch::Seen seen = over ? watch.look() : watch.look_if_changed();
    if (!seen.failed) {
      silence.is_over();
    } else if (!signals.wait(0)) {  // else it was given up: that is no silence
      silence.note(seen.fault);
    }
    if (!seen.failed && seen.value) {
      if (auto written = recording.take(*seen.value); !written) return written;
    }
    const bool ended = options.pid && recording.recorder().running() == 0;
    if (over || ended) return {};
  }
}

recording::Run run_of(const model::Snapshot& first) {
  recording::Run run;
  run.version = attach::ttmem_version();
  run.source = recording::kLooks;
  run.host = first.host;
  return run;
}

std::string file_of(const RecordServerOptions& options, const remote::Address& server) {
  if (!options.file.empty()) return options.file;
  std::string name = server.host;
  std::replace(name.begin(), name.end(), '/', '_');
  return fmt::format("ttmem-{}.ttmem", name);
}

int finish(Recording& recording, recording::Run& run, const std::string& file) {
  if (const auto written = recording.finish(run); !written) {
    return complain("the recording has ended: " + written.error().message, kFailure);
  }
  const recording::LookRecorder& recorder = recording.recorder();
  say(fmt::format("recorded {} of {} at {} in {}: {}",
                  plural(recorder.events(), "change", "changes"),
                  plural(recorder.processes(), "process", "processes"),
                  plural(recorder.looks(), "look", "looks"),
                  text::format_age(static_cast<std::uint64_t>(recording.now())), file));
  say("see it with: ttmem report " + shell_quote(file));
  return kSuccess;
}

}  // namespace

int record_server(const RecordServerOptions& options, const CommonOptions& common) {
  const remote::Address& server = *common.server;
  Result<remote::ClientOptions> client = client_options(common);
  if (!client) return complain(client.error().message, kFailure);
  const std::string file = file_of(options, server);
  if (const auto may = recording::Writer::may_create(file, options.overwrite); !may) {
    return complain(may.error().message, kFailure);
  }
  const Signals signals;
  client->give_up_fd = signals.fd();
  Watch watch(server, *client);
  Silence silence(server);
  static_cast<void>(watch.ask_whether_changed());  // if that fails, the look says why
  const Watch::Seen look = watch.look();
  if (look.failed) signals.let_through();  // there is nothing to save: it ends as others do
  if (look.failed) return complain(remote::error_of(server, look.fault).message, kFailure);
  const model::Snapshot& first = *look.value;
  // Before the file is made, which may replace another.
  if (options.pid && !recording::LookRecorder::finds_any(first, options.pid)) {
    return complain(
        fmt::format("no tracked process {} at {}; `ttmem --server {}` lists those that are",
                    *options.pid, server.url(), server.authority()),
        kFailure);
  }
  recording::Run run = run_of(first);
  const std::uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
  run.started_unix_ns = clock_ns(CLOCK_REALTIME);
  auto writer = recording::Writer::create(file, run, options.overwrite);
  if (!writer) return complain(writer.error().message, kFailure);
  Recording recording(std::move(*writer), options.pid, began_ns);
  Result<void> written = recording.take(first);
  say(fmt::format(
      "recording {}, two looks a second: what lives shorter is not seen; Ctrl-C ends it",
      server.url()));
  if (written) written = watch_until_told(watch, recording, silence, options, signals);
  if (!written) {
    return complain("the recording has ended: " + written.error().message, kFailure);
  }
  return finish(recording, run, file);
}

}  // namespace ttmem::cli
