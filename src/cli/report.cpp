// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyse/report/limit.hpp"
#include "analyse/report/report_json.hpp"
#include "analyse/report/report_text.hpp"
#include "analyse/selection/select.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/recordings.hpp"
#include "read/recording/playback/playback.hpp"
#include "serve/viewer/single_file.hpp"
#include "show/exports/output.hpp"
#include "show/views/json.hpp"
#include "show/views/snapshot_text.hpp"
#include "text/format.hpp"

namespace ttmem::cli {
namespace {

using recording::Playback;
using recording::Reader;
using recording::Time;
using report::Report;

struct ReportOptions {
  std::string file;
  std::optional<std::string> at;
  std::string html;
  bool overwrite = false;
  std::optional<std::uint64_t> top;
  std::vector<report::Limit> limits;
};

constexpr const char* kReportExamples = R"(
Examples:
  ttmem report run.ttmem               peaks, what they were made of, leaks
  ttmem report run.ttmem --device 3    only device 3
  ttmem report run.ttmem --at peak     the table of `ttmem` at the peak
  ttmem report run.ttmem --at 12.5s    the same after 12.5 seconds; also 300ms, end, dram.peak
  ttmem report run.ttmem --html run.html   the page of `ttmem view` in one file, for a ticket
  ttmem report run.ttmem --json | jq '.devices[].l1.peak_bytes'
  ttmem report run.ttmem --fail-on 'l1.peak>90MiB' --fail-on 'leak>0'

--fail-on compares dram.peak, l1.peak, l1_buffers.peak, l1_small.peak, cb.peak, kernels.peak,
trace.peak, headroom.min, dram.largest_free.min, l1.largest_free.min, leak or lost with a size. The
exit status is 3 if a limit is exceeded, and 1 if a limit cannot be checked because events were lost.
docs/guides/recording.md explains the figures.)";

// Prints the table or the JSON of `ttmem` for the state at one moment of the recording.
int show_moment(const ReportOptions& options, const CommonOptions& common, Reader& reader) {
  const Result<Time> time = moment_of(*options.at, options.file, common.devices, reader);
  if (!time) return complain(time.error().message, kFailure);
  const bool end = *options.at == "end";
  Playback playback(reader, end ? recording::AfterClose::kept : recording::AfterClose::gone);
  if (const auto done = playback.advance_to(*time); !done) {
    return complain(done.error().message, kFailure);
  }
  model::Snapshot snapshot = playback.snapshot();
  if (!common.devices.empty()) {
    const auto missing = selection::missing_devices(snapshot, common.devices);
    if (!missing.empty()) {
      return complain(fmt::format("no device {} at that moment", text::format_names(missing)),
                      kFailure);
    }
    snapshot = selection::select_devices(std::move(snapshot), common.devices);
  }
  if (common.json) return print(views::snapshot_json(snapshot, views::JsonLayout::pretty));
  print_warnings(snapshot.warnings);
  return print(views::snapshot_text(snapshot, {}, text_options(common)));
}

constexpr std::uint64_t kTop = 5;
constexpr std::uint64_t kJsonTop = 100;

// Returns the text of the report. Shortens the lists if the text does not fit on the terminal.
std::string text_of(const Report& report, const ReportOptions& options,
                    const CommonOptions& common) {
  report::ReportTextOptions what{.file = options.file, .top = options.top.value_or(kTop)};
  std::string text = report::report_text(report, what, text_options(common));
  if (options.top || !stdout_is_terminal()) return text;
  const auto fits = [&] {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) < terminal_rows();
  };
  while (!what.brief && !fits()) {
    what.brief = what.top == 1;
    what.top = std::max<std::size_t>(what.top - 1, 1);
    text = report::report_text(report, what, text_options(common));
  }
  return text;
}

int show_report(const ReportOptions& options, const CommonOptions& common, Reader& reader) {
  const Result<Report> report = load_report(options.file, common.devices, reader);
  if (!report) return complain(report.error().message, kFailure);
  const int printed =
      print(common.json ? report::report_json(*report, options.top.value_or(kJsonTop))
                        : text_of(*report, options, common));
  const int judged = judge(options.limits, nullptr, *report);
  return judged != kSuccess ? judged : printed;
}

// Writes the page with its data into one file.
int write_page(const ReportOptions& options) {
  if (const auto other = check_not_itself(options.file, options.html); !other) {
    return complain(other.error().message, kFailure);
  }
  auto output = exports::Output::create(options.html, options.overwrite);
  if (!output) return complain(output.error().message, kFailure);
  const auto runs = open_runs({options.file});
  if (!runs) return complain(runs.error().message, kFailure);
  const auto document = view_document_of(*runs, viewer::Shown::in_one_file);
  if (!document) return complain(document.error().message, kFailure);
  output->write(viewer::single_file(*document));
  const auto written = output->finish();
  if (!written) return complain(written.error().message, kFailure);
  say_written(options.html);
  return kSuccess;
}

std::optional<std::string> contradiction(const ReportOptions& options,
                                         const CommonOptions& common) {
  if (options.at && !options.limits.empty()) {
    return "--at shows one moment, --fail-on judges the whole run; choose one";
  }
  const bool part = options.at || options.top || !options.limits.empty() || common.json ||
                    !common.devices.empty();
  if (!options.html.empty() && part) {
    return "--html writes the page of the whole run; leave --at, --device, --fail-on, --json and "
           "--top out";
  }
  return std::nullopt;
}

int report_command(const ReportOptions& options, const CommonOptions& common) {
  if (options.file.empty()) {
    return complain("`ttmem report` needs a recording: ttmem report FILE", kUsage);
  }
  if (const auto wrong = contradiction(options, common)) return complain(*wrong, kUsage);
  if (!options.html.empty()) return write_page(options);
  auto reader = Reader::open(options.file);
  if (!reader) return complain(reader.error().message, kFailure);
  return options.at ? show_moment(options, common, **reader)
                    : show_report(options, common, **reader);
}

}  // namespace

void add_report(Command& app, CommonOptions& common) {
  auto options = std::make_shared<ReportOptions>();
  Command command = app.add_subcommand(
      "report", "Show a recording: peaks, what they were made of, leaks, what to set",
      kReportExamples);
  command.add_option("file", "FILE", options->file, "A recording of `ttmem record`");
  add_common(command, common);
  command.add_option("--at", "MOMENT", options->at, parse_for("--at", check_moment),
                     "Show the table of this moment instead: 12.5s, 300ms, peak, l1.peak, end");
  command.add_option("--html", "OUT", options->html,
                     "Write the page of `ttmem view` with its data into one file");
  command.add_flag("-f,--force", options->overwrite, "Overwrite OUT");
  command.add_option("--top", "N", options->top, std::bind_front(parse_count, "--top"),
                     "Lines of each list (5; fewer on a small terminal)");
  command.add_list("--fail-on", "LIMIT", options->limits,
                   parse_for("--fail-on", report::parse_absolute_limit),
                   "Exit status 3 if it is exceeded: l1.peak>90MiB; may be repeated");
  command.does([options, &common] { return report_command(*options, common); });
}

}  // namespace ttmem::cli
