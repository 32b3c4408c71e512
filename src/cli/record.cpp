// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/shell_quote.hpp"
#include "cli/arguments.hpp"
#include "cli/attach/cache.hpp"
#include "cli/commands.hpp"
#include "cli/supervise.hpp"
#include "cli/tracked_command.hpp"
#include "read/collector/collector.hpp"
#include "read/collector/process_look.hpp"
#include "read/collector/run_segments.hpp"
#include "read/collector/untracked_marks.hpp"
#include "read/recording/file/writer.hpp"
#include "read/recording/recorder/recorder.hpp"
#include "text/format.hpp"

namespace ttmem::cli {
namespace {

using std::chrono::milliseconds;

constexpr const char* kRecordExamples = R"(
Examples:
  ttmem record -- python3 model.py         writes ttmem-python3-PID.ttmem, with the PID of ttmem
  ttmem record -o run.ttmem -f -- ./model  overwrites run.ttmem
  ttmem record --pid 4711 --pid 4712       processes that are tracked already, until Ctrl-C
  ttmem record --aggregate -- ./model      a small file: the timeline, and what was left
  ssh node7 ttmem record -- ./model        records on node7, where the file then is

ttmem writes every allocation, free, placement and dispatch of the command and its descendants into
an SQLite file (docs/guides/recording.md), with address, size, cores, scope and time. Then:
  ttmem report run.ttmem        peaks, what they were made of, leaks
  ttmem diff old.ttmem run.ttmem
The command runs as with `ttmem run`, and ttmem returns its exit code. The command never waits for
ttmem: events that ttmem could not read in time are counted, and later figures are right again.
TTMEM_EVENTS=N makes room for N events (1048576).)";

constexpr milliseconds kPause{10};
constexpr std::uint64_t kProgressEvery = 250'000'000;

struct RecordOptions {
  std::string file;
  bool overwrite = false;
  bool aggregate = false;
  std::vector<std::int32_t> pids;
  TrackedCommand tracked;
};

std::string default_name(const std::string& program, std::int32_t pid) {
  return fmt::format("ttmem-{}-{}.ttmem", std::filesystem::path(program).filename().string(), pid);
}

// A line on standard error that shows the progress and is drawn again and again. Draws nothing if
// the recorded command may write to the same terminal, because the command's output would be mixed
// with the line.
class ProgressLine {
 public:
  explicit ProgressLine(bool alone)
      : shown_(::isatty(STDERR_FILENO) != 0 && (alone || ::isatty(STDOUT_FILENO) == 0)) {}
  ~ProgressLine() {
    if (drawn_) std::fputs("\r\033[K", stderr);
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const recording::Recorder::Figures& figures) {
    if (!shown_ || figures.elapsed_ns < next_) return;
    next_ = figures.elapsed_ns + kProgressEvery;
    drawn_ = true;
    const std::string lost =
        figures.lost > 0 ? fmt::format("  lost {}", text::format_count(figures.lost)) : "";
    fmt::print(stderr, "\r\033[Krecording {}  {} events  now {}  peak {}{}",
               text::format_age(figures.elapsed_ns), text::format_count(figures.events),
               text::format_bytes(figures.used_bytes), text::format_bytes(figures.peak_bytes),
               lost);
    std::fflush(stderr);
  }

 private:
  bool shown_;
  bool drawn_ = false;
  std::uint64_t next_ = 0;
};

// Records into a file. If a write fails, for example on a full disk, prints a message and stops the
// recording. The workload continues.
class RecordingSession {
 public:
  static Result<std::unique_ptr<RecordingSession>> begin(const std::string& file,
                                                         recording::Run run, bool overwrite,
                                                         bool alone) {
    // Reads both clocks at the same moment. Creating the file takes a while, so it comes
    // afterwards.
    const std::uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
    run.started_unix_ns = clock_ns(CLOCK_REALTIME);
    auto writer = recording::Writer::create(file, run, overwrite);
    if (!writer) return writer.error();
    return std::unique_ptr<RecordingSession>(
        new RecordingSession(file, std::move(run), std::move(*writer), began_ns, alone));
  }

  void add(UniqueFd segment) { recorder_.add(std::move(segment)); }
  // Adds the segment of a process that started after the recording began.
  void add_of_run(UniqueFd segment) { recorder_.add(std::move(segment), 0); }
  [[nodiscard]] std::size_t running() const { return recorder_.running(); }
  [[nodiscard]] bool is_any_ending() const { return !failed_ && recorder_.is_any_ending(); }

  using Commit = recording::Recorder::Commit;
  void look(Commit commit = Commit::when_due) {
    if (failed_) return;
    note(recorder_.look(commit));
    if (!failed_) progress_->show(recorder_.figures());
  }

  // Returns the segments of ended processes whose contents are completely in the file.
  [[nodiscard]] std::vector<UniqueFd> take_ended() {
    return failed_ ? std::vector<UniqueFd>() : recorder_.take_ended();
  }

  void set_not_tracked(const collector::NotTracked& not_tracked) { run_.not_tracked = not_tracked; }

  // Ends the recording. Returns kFailure if a write failed, otherwise kSuccess. `command` says how
  // the recorded command ended; nullopt if running processes were recorded.
  int finish(const std::optional<CommandEnd>& command) {
    std::optional<recording::Recorder::ChildEnd> child;
    if (command) {
      run_.exit_code = command->exit_code;
      if (command->pid != 0) child = {command->pid, command->signal};
    }
    if (!failed_) note(recorder_.finish(run_, child));
    progress_.reset();
    if (failed_) {
      say_written_part();
      return kFailure;
    }
    say_summary();
    return kSuccess;
  }

 private:
  RecordingSession(std::string file, recording::Run run, std::unique_ptr<recording::Writer> writer,
                   std::uint64_t began_ns, bool alone)
      : file_(std::move(file)),
        run_(std::move(run)),
        writer_(std::move(writer)),
        recorder_(*writer_, began_ns),
        progress_(std::make_unique<ProgressLine>(alone)) {}

  void note(const Result<void>& done) {
    if (done) return;
    failed_ = true;
    progress_.reset();
    say("the recording has ended: " + done.error().message);
  }

  // Prints how much of the run was written before a write failed.
  void say_written_part() const {
    const auto& written = recorder_.written();
    if (written.processes == 0) {
      say(fmt::format("nothing of the run was written to {}", file_));
      return;
    }
    say(
        fmt::format("{} of {} were written to {}, up to {}; what came later is missing; see it "
                    "with: ttmem report {}",
                    plural(written.events, "event", "events"),
                    plural(written.processes, "process", "processes"), file_,
                    text::format_age(written.elapsed_ns), shell_quote(file_)));
  }

  void say_summary() const {
    const auto figures = recorder_.figures();
    for (const std::string& sentence : collector::sentences(run_.not_tracked)) {
      say(sentence + "; " + collector::advice_for_untracked(segment_directory()));
    }
    if (figures.processes == 0 && !run_.not_tracked.empty()) return;
    if (figures.processes == 0) {
      const bool by_socket = std::strcmp(environment("TTMEM_TRANSPORT"), "socket") == 0;
      say(by_socket
              ? "nothing was recorded: TTMEM_TRANSPORT=socket sends all to a server; unset it"
              : "nothing was recorded: no process reported anything; `ttmem doctor` looks for "
                "the reason");
      return;
    }
    std::error_code unknown;
    const std::uintmax_t bytes = std::filesystem::file_size(file_, unknown);
    say(fmt::format("recorded {} of {} in {}: {} ({})", plural(figures.events, "event", "events"),
                    plural(figures.processes, "process", "processes"),
                    text::format_age(figures.elapsed_ns), file_,
                    text::format_bytes(unknown ? 0 : std::uint64_t{bytes})));
    if (figures.lost > 0) {
      const bool one = figures.lost == 1;
      say(fmt::format(
          "{} {} lost: they came faster than they could be written, and the ring held {} records; "
          "figures are right again after each gap. TTMEM_EVENTS when the process starts, and the "
          "room in {}, decide how many it holds",
          text::format_count(figures.lost), one ? "event was" : "events were",
          text::format_count(figures.smallest_ring), segment_directory()));
    }
    say("see it with: ttmem report " + shell_quote(file_));
    if (figures.failures > 0) {
      say("a process ran out of memory; see why with: ttmem explain --recording " +
          shell_quote(file_));
    }
  }

  std::string file_;
  recording::Run run_;
  std::unique_ptr<recording::Writer> writer_;
  recording::Recorder recorder_;
  std::unique_ptr<ProgressLine> progress_;
  bool failed_ = false;
};

recording::Run new_run(const std::vector<std::string>& command, bool aggregate) {
  recording::Run run;
  run.version = attach::ttmem_version();
  run.source = "record";
  for (const std::string& word : command) {
    run.command += (run.command.empty() ? "" : " ") + shell_quote(word);
  }
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) run.host = host.data();
  run.aggregate = aggregate;
  return run;
}

// Records new events. Returns true if a process was added or has ended.
bool record_new(collector::RunSegments& segments, RecordingSession& session,
                RecordingSession::Commit commit) {
  const std::size_t max_open = collector::max_open_segments();
  const std::size_t room = max_open - std::min(max_open, session.running());
  std::vector<UniqueFd> opened = segments.open_new(room);
  const bool is_new = !opened.empty();
  for (UniqueFd& segment : opened) session.add_of_run(std::move(segment));
  // Commits now if there may be more segments than room. An ended process makes room only after its
  // data was committed.
  session.look(opened.size() == room ? RecordingSession::Commit::now : commit);
  std::vector<UniqueFd> ended = session.take_ended();
  const bool any_ended = !ended.empty();
  for (UniqueFd& segment : ended) segments.release(std::move(segment));
  return is_new || any_ended;
}

// Records the remaining events after the end of the command. Waits for processes that are about to
// end. For example, timeout(1) kills itself together with its command, which may end a moment
// later.
void record_rest(collector::RunSegments& segments, RecordingSession& session) {
  constexpr std::uint64_t longest_wait_ns = 2'000'000'000;
  const std::uint64_t deadline = clock_ns(CLOCK_MONOTONIC) + longest_wait_ns;
  segments.list();
  for (;;) {
    while (record_new(segments, session, RecordingSession::Commit::now)) continue;
    if (!session.is_any_ending() || clock_ns(CLOCK_MONOTONIC) > deadline) return;
    const timespec pause{0, 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
}

int record_command(const std::vector<std::string>& command, const RecordOptions& options) {
  const std::string file =
      options.file.empty() ? default_name(command[0], ::getpid()) : options.file;
  // Checks the file before an adapter is built, because the build takes a while.
  if (const auto may = recording::Writer::may_create(file, options.overwrite); !may) {
    return complain(may.error().message, kFailure);
  }
  ::setenv("TTMEM_EVENTS", "1048576", 0);
  options.tracked.prepare(command);
  collector::RunSegments segments(segment_directory(),
                                  collector::RunSegments::Evidence::is_removed);
  if (!segments.failure().empty()) {
    return complain("cannot record: " + segments.failure(), kFailure);
  }
  auto session =
      RecordingSession::begin(file, new_run(command, options.aggregate), options.overwrite, false);
  if (!session) return complain(session.error().message, kFailure);
  const auto look = [&] {
    static_cast<void>(record_new(segments, **session, RecordingSession::Commit::when_due));
    return kPause;
  };
  const CommandEnd end = supervise(command, segments.fd(), look);
  if (end.not_started != 0) {
    ::unlink(file.c_str());
    return cannot_run(command[0], end.not_started);
  }
  record_rest(segments, **session);
  print_warnings(segments.warnings());
  if (const std::uint64_t strangers = segments.strangers(); strangers > 0) {
    say(fmt::format("not in this recording: {} ended before it could be seen who started {}",
                    plural(strangers, "process that", "processes that"),
                    strangers == 1 ? "it" : "them"));
  }
  (*session)->set_not_tracked(segments.not_tracked());
  const int recorded = (*session)->finish(end);
  for (UniqueFd& segment : (*session)->take_ended()) segments.release(std::move(segment));
  if (recorded == kSuccess) segments.clean_up();
  return end.exit_code != 0 ? end.exit_code : recorded;
}

// Returns the pid of the process in this pid namespace. Returns the pid in the process's container
// only if no other pid is known.
std::int32_t pid_here(const collector::SegmentEvidence& segment) {
  return segment.foreign_pid ? segment.host_pid.value_or(segment.image.pid) : segment.image.pid;
}

// Opens the segments of running processes. Fails if one of the processes has no segment.
Result<std::vector<UniqueFd>> open_segments(const std::vector<std::int32_t>& pids) {
  const std::string directory = segment_directory();
  collector::Collector collector(directory);
  static_cast<void>(collector.collect_figures());
  const collector::Evidence& evidence = collector.evidence();
  std::vector<UniqueFd> segments;
  for (const std::int32_t pid : pids) {
    const std::size_t before = segments.size();
    for (const collector::SegmentEvidence& segment : evidence.segments) {
      if (segment.state != model::State::alive || pid_here(segment) != pid) continue;
      const std::string path = directory + "/" + segment.origin.name;
      UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
      // If open() failed, the process has ended meanwhile.
      if (fd) segments.push_back(std::move(fd));
    }
    if (segments.size() > before) continue;
    print_warnings(evidence.unread);
    return Error{fmt::format(
        "process {} is not tracked{}; `ttmem` lists those that are, and `ttmem record -- CMD` "
        "starts one that is",
        pid, evidence.unread.empty() ? "" : ", or may not be read")};
  }
  return segments;
}

// Records until a signal arrives or all processes have ended.
void record_until_stopped(RecordingSession& session, const std::vector<std::int32_t>& pids) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  const UniqueFd incoming(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  session.look();
  // Prints this line only now, because scripts wait for the line. From now on all events are
  // recorded, and a signal ends the recording cleanly.
  say(fmt::format("recording {} {}; Ctrl-C ends it", pids.size() == 1 ? "process" : "processes",
                  fmt::join(pids, ", ")));
  while (session.running() > 0) {
    session.look();
    pollfd ready{incoming.get(), POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(kPause.count())) > 0) return;
  }
}

int record_processes(const RecordOptions& options) {
  auto segments = open_segments(options.pids);
  if (!segments) return complain(segments.error().message, kFailure);
  const std::int32_t first = options.pids.front();
  const std::string name = collector::process_name(first);
  const std::string file =
      options.file.empty() ? default_name(name.empty() ? "process" : name, first) : options.file;
  auto session =
      RecordingSession::begin(file, new_run({}, options.aggregate), options.overwrite, true);
  if (!session) return complain(session.error().message, kFailure);
  for (UniqueFd& segment : *segments) (*session)->add(std::move(segment));
  record_until_stopped(**session, options.pids);
  return (*session)->finish(std::nullopt);
}

int record(std::vector<std::string> arguments, const RecordOptions& options) {
  arguments = without_dashes(std::move(arguments));
  if (!arguments.empty() && !options.pids.empty()) {
    return complain("record takes a command or --pid, not both; see ttmem record --help", kUsage);
  }
  if (!options.pids.empty()) return record_processes(options);
  if (arguments.empty()) {
    return complain("record needs a command, for example: ttmem record -- python3 model.py",
                    kUsage);
  }
  return record_command(arguments, options);
}

}  // namespace

void add_record(Command& app, const std::vector<std::string>& to_run) {
  auto options = std::make_shared<RecordOptions>();
  Command command = app.add_subcommand(
      "record", "Record every event of a command, or of processes: record [OPTIONS] -- CMD",
      kRecordExamples);
  command.add_option("-o,--output", "FILE", options->file,
                     "The file to write (ttmem-NAME-PID.ttmem)");
  command.add_flag("-f,--force", options->overwrite, "Overwrite FILE");
  command.add_list("--pid", "PID", options->pids, parse_pid,
                   "Record this tracked process instead of a command; may be repeated");
  command.add_flag("--aggregate", options->aggregate,
                   "Keep the timeline and what is left at the end, not every event");
  options->tracked.add_options(command);
  command.does([&to_run, options] { return record(to_run, *options); });
}

}  // namespace ttmem::cli
