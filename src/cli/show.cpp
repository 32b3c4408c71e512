// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/environment.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/watch.hpp"
#include "collector/collector.hpp"
#include "views/csv.hpp"
#include "views/format.hpp"
#include "views/json.hpp"
#include "views/select.hpp"
#include "views/snapshot_text.hpp"

namespace ttmem::cli {
namespace {

struct ShowOptions {
  bool csv = false;
  bool per_core = false;
  std::optional<double> watch;  // seconds
};

constexpr const char* kExamples = R"(
Examples:
  ttmem                          every device and process, once
  ttmem --watch 0.5              the same, again every half second
  ttmem --device 0,3 --per-core  two devices, with a map of their cores
  ttmem --json | jq '.devices[].l1.cb.physical_bytes'
  ttmem --csv > memory.csv
  ttmem run -- python3 model.py  run a program with tracking on
  ttmem demo                     no device at hand? simulate eight

Help on a command: ttmem help COMMAND)";

std::string json_frame(const model::Snapshot& snapshot, bool stream) {
  return views::snapshot_json(snapshot,
                              stream ? views::JsonLayout::line : views::JsonLayout::pretty);
}

int show_once(const ShowOptions& options, const CommonOptions& common) {
  const Result<model::Snapshot> snapshot = current_snapshot(common.devices);
  if (!snapshot) return complain(snapshot.error().message, kFailure);
  if (common.json) return print(json_frame(*snapshot, false));  // carries the warnings itself
  print_warnings(snapshot->warnings);
  const auto rows = options.per_core ? views::CsvRows::cores : views::CsvRows::devices;
  if (options.csv) return print(views::csv_header(rows) + views::csv_rows(*snapshot, rows));
  return print(
      views::snapshot_text(*snapshot, {.per_core = options.per_core}, text_options(common.color)));
}

// With --watch, a device that is not there yet is not an error: it may appear.
model::Snapshot snapshot_of(const CommonOptions& common) {
  model::Snapshot snapshot = collector::collect(segment_directory());
  if (common.devices.empty()) return snapshot;
  return views::select_devices(std::move(snapshot), common.devices);
}

int show_again_and_again(const ShowOptions& options, const CommonOptions& common, double seconds) {
  if (common.json) {
    return watch(seconds, WatchMode::append, [&] { return json_frame(snapshot_of(common), true); });
  }
  if (options.csv) {
    const auto rows = options.per_core ? views::CsvRows::cores : views::CsvRows::devices;
    std::string header = views::csv_header(rows);
    return watch(seconds, WatchMode::append, [&] {
      return std::exchange(header, "") + views::csv_rows(snapshot_of(common), rows);
    });
  }
  const bool redraw = stdout_is_terminal();
  const views::SnapshotTextOptions what{.per_core = options.per_core, .warnings = redraw};
  return watch(seconds, redraw ? WatchMode::redraw : WatchMode::append, [&] {
    const model::Snapshot snapshot = snapshot_of(common);
    if (!redraw) print_warnings(snapshot.warnings);
    const std::string text = views::snapshot_text(snapshot, what, text_options(common.color));
    return redraw ? text : text + "\n";
  });
}

int show(const ShowOptions& options, const CommonOptions& common) {
  if (common.json && options.csv) {
    return complain("--json and --csv exclude each other; choose one", kUsage);
  }
  return options.watch ? show_again_and_again(options, common, *options.watch)
                       : show_once(options, common);
}

Result<double> parse_watch(const std::string& text) {
  constexpr double kShortest = 0.01;  // a snapshot takes milliseconds
  Result<double> seconds = parse_positive("--watch", text);
  if (!seconds || *seconds >= kShortest) return seconds;
  return Error{fmt::format("--watch {}: must be at least {} seconds", text, kShortest)};
}

}  // namespace

void add_common(Command& app, CommonOptions& common) {
  app.add_flag("--json", common.json, "As JSON: integers in bytes, unknown is null");
  app.add_option("-i,--device", "LIST", common.devices, parse_devices,
                 "Only these devices: 0,3 or 0-3");
  add_color(app, common);
}

void add_color(Command& app, CommonOptions& common) {
  app.add_option("--color", "WHEN", common.color, parse_color,
                 "auto, always or never; auto obeys NO_COLOR");
}

Result<model::Snapshot> current_snapshot(const std::vector<std::uint32_t>& devices) {
  model::Snapshot snapshot = collector::collect(segment_directory());
  if (devices.empty()) return snapshot;
  const std::vector<std::uint32_t> missing = views::missing_devices(snapshot, devices);
  if (missing.empty()) return views::select_devices(std::move(snapshot), devices);
  print_warnings(snapshot.warnings);  // one of them may say why
  const std::vector<std::uint32_t> ids = views::device_ids(snapshot);
  const std::string present =
      ids.empty() ? "no process uses any device right now"
                  : (ids.size() == 1 ? "there is only " : "there are ") + views::format_ids(ids);
  return Error{fmt::format("no device {}; {}", views::format_ids(missing), present)};
}

void add_show(Command& app, CommonOptions& common) {
  auto options = std::make_shared<ShowOptions>();
  add_common(app, common);
  app.add_flag("--csv", options->csv, "As CSV: one row per device, unknown is n/a");
  app.add_flag("--per-core", options->per_core,
               "Also each core: a map in the text, a row per core in the CSV");
  app.add_option("-l,--watch", "SECONDS", options->watch, parse_watch,
                 "Repeat every SECONDS until Ctrl-C");
  app.footer(kExamples);
  app.does([options, &common] { return show(*options, common); });
}

}  // namespace ttmem::cli
