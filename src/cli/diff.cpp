// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/diff.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analyse/report/diff_views.hpp"
#include "analyse/report/make_report.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/recordings.hpp"

namespace ttmem::cli {
namespace {

using report::Report;

struct DiffOptions {
  std::string before;
  std::string now;
  bool markdown = false;
  std::uint64_t top = 10;
  std::vector<report::Limit> limits;
};

constexpr const char* kDiffExamples = R"(
Examples:
  ttmem diff old.ttmem new.ttmem                               peaks side by side, and what changed
  ttmem diff old.ttmem new.ttmem --markdown                    for a pull request
  ttmem diff old.ttmem new.ttmem --fail-on 'l1.peak>+2%' --fail-on 'cb.peak>+4KiB'
  ttmem diff old.ttmem new.ttmem --fail-on 'headroom.min<64KiB' --fail-on 'leak>0'

The exit status is 3 if a limit is exceeded, and 1 if a limit cannot be checked. A limit with
a sign compares the new run with the old run, in bytes or percent; a limit without a sign is about the
new run alone. `ttmem report --help` lists the figures. docs/guides/ci.md has a workflow that fails a
pull request.)";

Result<Report> read_report(const std::string& file) {
  auto reader = recording::Reader::open(file);
  if (!reader) return reader.error();
  return report::make_report(**reader, progress_for(**reader, file));
}

std::string rendered(const report::Diff& diff, const report::DiffNames& names,
                     const DiffOptions& options, const CommonOptions& common) {
  if (common.json) return report::diff_json(diff, names);
  if (options.markdown) return report::diff_markdown(diff, names);
  return report::diff_text(diff, names, text_options(common));
}

int diff_command(const DiffOptions& options, const CommonOptions& common) {
  if (options.before.empty() || options.now.empty()) {
    return complain("`ttmem diff` needs two recordings: ttmem diff OLD NEW", kUsage);
  }
  if (common.json && options.markdown) {
    return complain("--json and --markdown exclude each other; choose one", kUsage);
  }
  const Result<Report> before = read_report(options.before);
  if (!before) return complain(before.error().message, kFailure);
  const Result<Report> now = read_report(options.now);
  if (!now) return complain(now.error().message, kFailure);
  report::DiffNames names{options.before, options.now, options.top, {}};
  for (const report::Limit& limit : options.limits) {
    const std::string how = report::exceeded(limit, &*before, *now);
    if (!how.empty()) names.failed.push_back(how);
  }
  const int printed = print(rendered(report::make_diff(*before, *now), names, options, common));
  const int judged = judge(options.limits, &*before, *now);
  return judged != kSuccess ? judged : printed;
}

}  // namespace

void add_diff(Command& app, CommonOptions& common) {
  auto options = std::make_shared<DiffOptions>();
  Command command = app.add_subcommand(
      "diff", "Compare two recordings: peaks side by side, what was added, removed or grew",
      kDiffExamples);
  command.add_option("old", "OLD", options->before, "A recording of `ttmem record`");
  command.add_option("new", "NEW", options->now, "The recording to compare with OLD");
  command.add_flag("--json", common.json, "As JSON: integers in bytes, unknown is null");
  command.add_flag("--markdown", options->markdown, "As tables for a pull request");
  command.add_option("--top", "N", options->top, std::bind_front(parse_count, "--top"),
                     "Lines of each list (10); --json has all");
  command.add_list("--fail-on", "LIMIT", options->limits,
                   parse_for("--fail-on", report::parse_limit),
                   "Exit status 3 if it is exceeded: l1.peak>+2%, cb.peak>+4KiB; may be repeated");
  command.add_option("--units", "UNIT", common.units, parse_for("--units", text::parse_units),
                     "Unit of sizes in the text: auto, bytes, MiB or GiB");
  add_color(command, common);
  command.does([options, &common] { return diff_command(*options, common); });
}

}  // namespace ttmem::cli
