// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "analyse/selection/select.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/server_options.hpp"
#include "cli/watch.hpp"
#include "show/views/brief_text.hpp"
#include "show/views/csv.hpp"
#include "show/views/device_list.hpp"
#include "show/views/json.hpp"
#include "show/views/query.hpp"
#include "show/views/snapshot_text.hpp"
#include "text/format.hpp"

namespace ttmem::cli {
namespace {

struct ShowOptions {
  bool per_core = false;
  bool list = false;
  bool brief = false;
  bool in_full = false;  // --long
  views::ProcessChoice processes;
  std::optional<double> watch;  // seconds between two frames; nullopt: one frame
  std::string query;            // empty: no query
  views::QueryFields fields;    // fields of the query
  std::optional<views::QueryFormat> format;
};

constexpr const char* kShowExamples = R"(
Examples:
  ttmem                          every device and process, once
  ttmem --watch 0.5              the same, again every half second
  ttmem --device 0,3 --per-core  two devices, with a map of their cores
  ttmem --brief                  one line per device
  ttmem --user alice --sort cb   what alice holds, the most circular buffers first
  ttmem --columns pid,job,rank,dram,command
                                 the cluster job of each process
  ttmem --units bytes            exact sizes
  ttmem -L                       the list of devices
  ttmem --json | jq '.devices[].l1.cb.physical_bytes'
  ttmem --csv > memory.csv
  ttmem --query=device,dram_used,cb_physical --format=csv,noheader -l 1
  ttmem --query=help             the fields of --query
  ttmem --server node7           the same for another machine, where `ttmem serve` runs
  ttmem run -- python3 model.py  run a program with tracking on
  ttmem demo                     no device at hand? simulate eight

Help on a command: ttmem help COMMAND)";

// A function that returns the output for one snapshot. In output for other programs, frames are
// written one after the other, and only the first frame has the header.
using FrameMaker = std::function<std::string(const model::Snapshot&)>;

FrameMaker with_header(std::string header, FrameMaker rows) {
  return [header = std::move(header), rows = std::move(rows)](const auto& snapshot) mutable {
    return std::exchange(header, "") + rows(snapshot);
  };
}

FrameMaker json_frame(const ShowOptions& options) {
  const auto layout = options.watch ? views::JsonLayout::line : views::JsonLayout::pretty;
  return [layout, list = options.list](const model::Snapshot& snapshot) {
    return list ? views::devices_json(snapshot, layout) : views::snapshot_json(snapshot, layout);
  };
}

FrameMaker csv_frame(const ShowOptions& options) {
  const auto rows = options.list       ? views::CsvRows::identities
                    : options.per_core ? views::CsvRows::cores
                                       : views::CsvRows::devices;
  return with_header(views::csv_header(rows), [rows](const model::Snapshot& snapshot) {
    return views::csv_rows(snapshot, rows);
  });
}

FrameMaker query_frame(const ShowOptions& options, const CommonOptions& common) {
  const views::QueryFormat format = options.format.value_or(views::QueryFormat());
  const text::Units units = common.units.value_or(text::Units::mib);
  return with_header(views::query_header(options.fields, format, units),
                     [fields = options.fields, format, units](const model::Snapshot& snapshot) {
                       return views::query_rows(snapshot, fields, format, units);
                     });
}

bool is_for_programs(const ShowOptions& options, const CommonOptions& common) {
  return common.json || common.csv || !options.query.empty();
}

FrameMaker frame_for_programs(const ShowOptions& options, const CommonOptions& common) {
  return common.json  ? json_frame(options)
         : common.csv ? csv_frame(options)
                      : query_frame(options, common);
}

// Returns the snapshot with only the devices that the chosen processes use. For JSON, also removes
// the other processes. For text, keeps the other processes, because the text counts all processes.
model::Snapshot of_processes(model::Snapshot snapshot, const ShowOptions& options,
                             const CommonOptions& common) {
  const selection::ProcessFilter& only = options.processes.only;
  if (!only.any()) return snapshot;
  return common.json ? selection::select_processes(std::move(snapshot), only)
                     : selection::select_devices_of(std::move(snapshot), only);
}

std::string no_process_message(const selection::ProcessFilter& only) {
  const std::string pid = only.pid ? fmt::format(" {}", *only.pid) : "";
  const std::string user = only.user.empty() ? "" : " of " + only.user;
  const std::string job = only.job.empty() ? "" : " of job " + only.job;
  return fmt::format("no process{}{}{} uses a device; `ttmem` lists those that do", pid, user, job);
}

// Returns the text of a snapshot. On a terminal, the text is limited to one screen, unless the user
// asked for the whole text.
std::string text_of(const model::Snapshot& snapshot, const ShowOptions& options,
                    const CommonOptions& common) {
  const text::TextOptions text = text_options(common);
  const bool watches = options.watch.has_value();
  if (options.list) return views::device_list_text(snapshot, text);
  if (options.brief && !watches) return views::brief_text(snapshot, text);
  const bool terminal = stdout_is_terminal();
  views::SnapshotTextOptions what;
  what.per_core = options.per_core;
  what.processes = options.processes;
  what.brief = options.brief;
  // Shows the warnings in the frame. Warnings on standard error would be overwritten by the next
  // frame.
  what.warnings = watches && terminal;
  // Leaves the last row of the terminal free for the prompt or the cursor.
  if (terminal && (watches || !(options.in_full || options.per_core))) {
    what.rows = terminal_rows() - 1;
  }
  what.cut_to_rows = watches && terminal;
  return views::snapshot_text(snapshot, what, text);
}

int show_once(const ShowOptions& options, const CommonOptions& common) {
  Result<model::Snapshot> snapshot = current_snapshot(common, remote::Lists::none);
  if (!snapshot) return complain(snapshot.error().message, kFailure);
  if (!common.json) print_warnings(snapshot->warnings);  // the JSON contains the warnings
  model::Snapshot chosen = of_processes(std::move(*snapshot), options, common);
  if (chosen.devices.empty() && options.processes.only.any()) {
    return complain(no_process_message(options.processes.only), kFailure);
  }
  return print_of(chosen, is_for_programs(options, common)
                              ? frame_for_programs(options, common)(chosen)
                              : text_of(chosen, options, common));
}

// Returns the present snapshot. With --watch, a missing device or process is not an error, because
// it may appear later. Fails if a server does not answer.
Result<model::Snapshot> snapshot_of(const ShowOptions& options, const CommonOptions& common) {
  Result<model::Snapshot> snapshot = take_snapshot(common, remote::Lists::none);
  if (!snapshot) return snapshot;
  if (!common.devices.empty()) {
    snapshot = selection::select_devices(std::move(*snapshot), common.devices);
  }
  return of_processes(std::move(*snapshot), options, common);
}

// Returns the frame that is shown when a server does not answer. The loop of --watch continues,
// because the server may answer the next request.
std::string no_answer(const Error& error, bool redraw) {
  if (redraw) return error.message + "\n";
  say(error.message);
  return {};
}

int watch_loop(const ShowOptions& options, const CommonOptions& common, double seconds) {
  if (is_for_programs(options, common)) {
    const FrameMaker frame = frame_for_programs(options, common);
    return watch(seconds, WatchMode::append, [&] {
      const Result<model::Snapshot> snapshot = snapshot_of(options, common);
      return snapshot ? frame(*snapshot) : no_answer(snapshot.error(), false);
    });
  }
  const bool redraw = stdout_is_terminal();
  return watch(seconds, redraw ? WatchMode::redraw : WatchMode::append, [&] {
    const Result<model::Snapshot> snapshot = snapshot_of(options, common);
    if (!snapshot) return no_answer(snapshot.error(), redraw);
    if (!redraw) print_warnings(snapshot->warnings);
    const std::string text = text_of(*snapshot, options, common);
    return redraw ? text : text + "\n";
  });
}

// Returns an error message if options contradict each other, otherwise an empty text.
std::string contradiction(const ShowOptions& options, const CommonOptions& common) {
  const bool query = !options.query.empty();
  if (query && (common.json || common.csv || options.list || options.per_core)) {
    return "--query has a format of its own: leave out --json, --csv, --list and --per-core";
  }
  if (options.brief && (options.in_full || options.per_core || options.list)) {
    return "--brief is one line a device: leave out --long, --per-core and --list";
  }
  if (options.format && !query) {
    return "--format belongs to --query, for example --query=device,dram_used --format=csv";
  }
  if (common.units == text::Units::automatic && options.format && !options.format->units) {
    return "nounits needs one unit for all values: --units bytes, MiB or GiB";
  }
  return {};
}

int show(ShowOptions options, const CommonOptions& common) {
  if (options.query == "help") return print(views::query_help());
  if (const std::string wrong = contradiction(options, common); !wrong.empty()) {
    return complain(wrong, kUsage);
  }
  if (!options.query.empty()) {
    auto fields = parse_for("--query", views::parse_query)(options.query);
    if (!fields) return complain(fields.error().message, kUsage);
    options.fields = std::move(*fields);
  }
  return options.watch ? watch_loop(options, common, *options.watch) : show_once(options, common);
}

Result<double> parse_watch(const std::string& text) {
  // The shortest interval in seconds. A snapshot takes milliseconds.
  constexpr double kShortest = 0.01;
  Result<double> seconds = parse_positive("--watch", text);
  if (!seconds || *seconds >= kShortest) return seconds;
  return Error{fmt::format("--watch {}: must be at least {} seconds", text, kShortest)};
}

}  // namespace

int print_of(const model::Snapshot& snapshot, std::string_view text) {
  const int printed = print(text);
  return snapshot.blind() ? kFailure : printed;
}

void add_common(Command& app, CommonOptions& common) {
  app.add_flag("--json", common.json, "As JSON: integers in bytes, unknown is null");
  app.add_option("-i,--device", "LIST", common.devices, parse_devices,
                 "Only these devices: 0,3 or 0-3, or by uid: 0x1f00a");
  app.add_option("--units", "UNIT", common.units, parse_for("--units", text::parse_units),
                 "Sizes of text and --query: auto, bytes, MiB or GiB; JSON and CSV are in bytes");
  add_color(app, common);
}

void add_color(Command& app, CommonOptions& common) {
  app.add_option("--color", "WHEN", common.color, parse_color,
                 "auto, always or never; auto obeys NO_COLOR");
}

text::TextOptions text_options(const CommonOptions& common) {
  text::TextOptions text = text_options(common.color);
  text.units = common.units.value_or(text::Units::automatic);
  return text;
}

void add_show(Command& app, CommonOptions& common) {
  auto options = std::make_shared<ShowOptions>();
  add_common(app, common);
  add_server(app, common);
  app.add_flag("--csv", common.csv, "As CSV: one row per device, unknown is n/a");
  app.add_flag("--per-core", options->per_core,
               "Also each core: a map in the text, a row per core in the CSV");
  app.add_flag("--brief", options->brief, "One line per device");
  app.add_flag(
      "--long", options->in_full,
      "Print all lines even if the terminal has fewer; the default is then the brief form");
  app.add_option(
      "--sort", "COLUMN", options->processes.sort, parse_for("--sort", views::parse_process_sort),
      "Sort the processes: dram, l1_buf, l1_small, cb, kernels, trace, allocs, pid, user, command");
  app.add_option("--columns", "NAMES", options->processes.columns,
                 parse_for("--columns", views::parse_process_columns),
                 "Columns of the processes: pid,user,job,rank,pod,namespace,container,dram,cb,...");
  app.add_option("--pid", "PID", options->processes.only.pid, parse_pid,
                 "Only this process, and the devices that it uses");
  app.add_option("--user", "USER", options->processes.only.user,
                 "Only processes of this user, and the devices that they use");
  app.add_option("--job", "JOB", options->processes.only.job,
                 "Only processes of this job or pod, and the devices that they use");
  app.add_flag("-L,--list", options->list, "Only list the devices: number, uid, board");
  app.add_option("-l,--watch", "SECONDS", options->watch, parse_watch,
                 "Repeat every SECONDS until Ctrl-C");
  app.add_option("--query", "FIELDS", options->query,
                 "Only these fields, as CSV: device,dram_used; help lists them");
  app.add_option("--format", "FORMAT", options->format,
                 parse_for("--format", views::parse_query_format),
                 "Format of --query: csv[,noheader][,nounits]");
  app.footer(kShowExamples);
  app.does([options, &common] { return show(*options, common); });
}

}  // namespace ttmem::cli
