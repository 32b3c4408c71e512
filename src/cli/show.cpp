// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
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
  std::string watch;
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

Help on a command: ttmem COMMAND --help)";

std::string json_frame(const model::Snapshot& snapshot, bool stream) {
  return views::snapshot_json(snapshot,
                              stream ? views::JsonLayout::line : views::JsonLayout::pretty);
}

int show_once(const ShowOptions& options, bool json, const CommonValues& common) {
  const Result<model::Snapshot> snapshot = current_snapshot(common.devices);
  if (!snapshot) return complain(snapshot.error().message, kFailure);
  if (json) return print(json_frame(*snapshot, false));  // carries the warnings itself
  print_warnings(*snapshot);
  if (options.csv) {
    const auto rows = options.per_core ? views::CsvRows::cores : views::CsvRows::devices;
    return print(views::csv_header(rows) + views::csv_rows(*snapshot, rows));
  }
  return print(
      views::snapshot_text(*snapshot, {.per_core = options.per_core}, text_options(common.color)));
}

// With --watch, a device that is not there yet is not an error: it may appear.
model::Snapshot snapshot_of(const CommonValues& common) {
  model::Snapshot snapshot = collector::collect(segment_directory());
  if (common.devices.empty()) return snapshot;
  return views::select_devices(std::move(snapshot), common.devices);
}

int show_again_and_again(const ShowOptions& options, bool json, const CommonValues& common,
                         double seconds) {
  if (json) {
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
    if (!redraw) print_warnings(snapshot);
    const std::string text = views::snapshot_text(snapshot, what, text_options(common.color));
    return redraw ? text : text + "\n";
  });
}

int show(const ShowOptions& options, const CommonOptions& typed) {
  if (typed.json && options.csv) {
    return complain("--json and --csv exclude each other; choose one", kUsage);
  }
  const Result<CommonValues> common = values_of(typed);
  if (!common) return complain(common.error().message, kUsage);
  if (options.watch.empty()) return show_once(options, typed.json, *common);
  const Result<double> seconds = parse_positive("--watch", options.watch);
  if (!seconds) return complain(seconds.error().message, kUsage);
  constexpr double kShortest = 0.01;  // a snapshot takes milliseconds
  if (*seconds < kShortest) {
    return complain(
        fmt::format("--watch {}: must be at least {} seconds", options.watch, kShortest), kUsage);
  }
  return show_again_and_again(options, typed.json, *common, *seconds);
}

}  // namespace

void add_common(Command& app, CommonOptions& common) {
  app.add_flag("--json", common.json, "As JSON: integers in bytes, unknown is null");
  app.add_option("--device", common.devices, "Only these devices: 0,3 or 0-3").type_name("LIST");
  app.add_option("--color", common.color, "auto, always or never; auto obeys NO_COLOR")
      .type_name("WHEN");
}

Result<CommonValues> values_of(const CommonOptions& common) {
  CommonValues values;
  const Result<ColorWhen> color = parse_color(common.color);
  if (!color) return color.error();
  values.color = *color;
  if (common.devices.empty()) return values;
  Result<std::vector<std::uint32_t>> devices = parse_devices(common.devices);
  if (!devices) return devices.error();
  values.devices = std::move(*devices);
  return values;
}

Result<model::Snapshot> current_snapshot(const std::vector<std::uint32_t>& devices) {
  model::Snapshot snapshot = collector::collect(segment_directory());
  if (devices.empty()) return snapshot;
  const std::vector<std::uint32_t> missing = views::missing_devices(snapshot, devices);
  if (missing.empty()) return views::select_devices(std::move(snapshot), devices);
  print_warnings(snapshot);  // one of them may say why
  const std::vector<std::uint32_t> ids = views::device_ids(snapshot);
  const std::string present =
      ids.empty() ? "no process uses any device right now"
                  : (ids.size() == 1 ? "there is only " : "there are ") + views::format_ids(ids);
  return Error{fmt::format("no device {}; {}", views::format_ids(missing), present)};
}

void add_show(Command& app, CommonOptions& common, Action& action) {
  auto options = std::make_shared<ShowOptions>();
  add_common(app, common);
  app.add_flag("--csv", options->csv, "As CSV: one row per device, unknown is n/a");
  app.add_flag("--per-core", options->per_core,
               "Also each core: a map in the text, a row per core in the CSV");
  app.add_option("--watch", options->watch, "Repeat every SECONDS until Ctrl-C")
      .type_name("SECONDS");
  app.footer(kExamples);
  action = [options, &common] { return show(*options, common); };
}

}  // namespace ttmem::cli
