// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/recordings.hpp"
#include "read/recording/file/reader.hpp"
#include "show/exports/format.hpp"
#include "text/format.hpp"
#include "text/nearest.hpp"

namespace ttmem::cli {
namespace {

constexpr const char* kExportExamples = R"(
Examples:
  ttmem export run.ttmem --format perfetto -o run.pftrace   for https://ui.perfetto.dev
  ttmem export run.ttmem --format pprof -o run.pb.gz        pprof -http=: run.pb.gz
  ttmem export run.ttmem --format memory-viz -o run.pickle  for pytorch.org/memory_viz
  ttmem export run.ttmem --format ttnn-visualizer -o report for ttnn-visualizer, a folder
  ttmem export run.ttmem --format speedscope -o run.json    for https://www.speedscope.app
  ttmem export run.ttmem --format collapsed -o - | flamegraph.pl > run.svg
  ttmem export run.ttmem --format csv --kind l1 -o l1.csv   pandas.read_csv("l1.csv")

docs/guides/export.md says what each format shows, how to open it, and what it cannot tell.)";

struct ExportOptions {
  std::string file;
  std::string out;
  const exports::ExportFormat* format = nullptr;
  exports::ExportMoment moment;
  bool overwrite = false;
  std::vector<Kind> kinds;
  std::vector<model::DeviceName> devices;
};

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  names.reserve(exports::kFormats.size());
  for (const exports::ExportFormat& format : exports::kFormats) names.emplace_back(format.name);
  return names;
}

Result<const exports::ExportFormat*> parse_format(const std::string& text) {
  for (const exports::ExportFormat& format : exports::kFormats) {
    if (format.name == text) return &format;
  }
  const std::string near = text::nearest(text, format_names());
  return Error{near.empty()
                   ? fmt::format("not a format; there are {}", fmt::join(format_names(), ", "))
                   : fmt::format("not a format; did you mean {}?", near)};
}

Result<exports::ExportMoment> parse_when(const std::string& text) {
  using enum exports::ExportMoment::Which;
  if (text == "peak") return exports::ExportMoment{peak};
  if (text == "end") return exports::ExportMoment{end};
  const auto time = parse_moment(text);
  if (!time) return time.error();
  return exports::ExportMoment{at_time, *time};
}

bool is_named(const exports::ExportedChip& chip, const model::DeviceName& name) {
  return name.uid ? chip.uid == *name.uid : name.bus_id.empty() && chip.number == name.number;
}

std::optional<std::string> missing_option(const ExportOptions& options) {
  if (options.file.empty()) return "name a recording; see ttmem export --help";
  if (options.format == nullptr) {
    return fmt::format("name a --format: {}", fmt::join(format_names(), ", "));
  }
  if (options.out.empty()) return "name the file to write: -o OUT, or -o - for standard output";
  if (options.out == "-" && options.format->write == nullptr) {
    return fmt::format("{} is a folder; name it with -o", options.format->name);
  }
  if (options.out == "-" && options.format->binary && stdout_is_terminal()) {
    return fmt::format("{} is nothing for a terminal; name a file with -o", options.format->name);
  }
  return std::nullopt;
}

// Returns the named devices that the recording lacks.
std::vector<model::DeviceName> missing_devices(const ExportOptions& options,
                                               const exports::Selection& selection) {
  std::vector<model::DeviceName> missing;
  const std::vector<exports::ExportedChip>& chips = selection.chips();
  std::copy_if(options.devices.begin(), options.devices.end(), std::back_inserter(missing),
               [&](const model::DeviceName& name) {
                 return std::none_of(
                     chips.begin(), chips.end(),
                     [&](const exports::ExportedChip& chip) { return is_named(chip, name); });
               });
  return missing;
}

Result<exports::Notes> run(const ExportOptions& options) {
  const auto reader = recording::Reader::open(options.file);
  if (!reader) return reader.error();
  (*reader)->set_progress(progress_for(**reader, options.file));
  const exports::Selection selection(
      (*reader)->tables(), options.kinds, [&](const exports::ExportedChip& chip) {
        const auto named = [&](const model::DeviceName& name) { return is_named(chip, name); };
        return options.devices.empty() ||
               std::any_of(options.devices.begin(), options.devices.end(), named);
      });
  if (const auto missing = missing_devices(options, selection); !missing.empty()) {
    return Error{fmt::format("no device {} in {}", text::format_names(missing), options.file)};
  }
  return exports::write({.reader = **reader,
                         .selection = selection,
                         .moment = options.moment,
                         .path = options.out,
                         .overwrite = options.overwrite},
                        *options.format);
}

int export_recording(const ExportOptions& options) {
  if (const auto missing = missing_option(options)) return complain(*missing, kUsage);
  if (const auto other = check_not_itself(options.file, options.out); !other) {
    return complain(other.error().message, kFailure);
  }
  const auto notes = run(options);
  if (!notes) return complain(notes.error().message, kFailure);
  say_written(options.out);
  for (const std::string& note : *notes) say(note);
  return kSuccess;
}

}  // namespace

void add_export(Command& app) {
  auto options = std::make_shared<ExportOptions>();
  Command command = app.add_subcommand("export", "Convert a recording into a file for another tool",
                                       kExportExamples);
  command.add_option("FILE", "", options->file, "The recording, of `ttmem record`");
  command.add_option("--format", "F", options->format, parse_for("--format", parse_format),
                     fmt::format("{}", fmt::join(format_names(), ", ")));
  command.add_option("-o,--output", "OUT", options->out, "The file to write; -: standard output");
  command.add_flag("-f,--force", options->overwrite, "Overwrite OUT");
  command.add_option("--at", "WHEN", options->moment, parse_for("--at", parse_when),
                     "What collapsed shows: peak (default), end, or a time: 12.5s, 300ms");
  command.add_option("--device", "LIST", options->devices, parse_devices,
                     "Only these devices: 0,3 or 0-3 or a uid");
  command.add_option("--kind", "LIST", options->kinds, parse_kinds,
                     "Only these kinds: dram, l1, l1_small, trace, cb, kernel, system");
  command.does([options] { return export_recording(*options); });
}

}  // namespace ttmem::cli
