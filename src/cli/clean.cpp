// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "cli/commands.hpp"
#include "collector/collector.hpp"
#include "views/format.hpp"
#include "views/table.hpp"

namespace ttmem::cli {
namespace {

using collector::Reaped;
using views::format_bytes;

constexpr const char* kExamples = R"(
Examples:
  ttmem clean --dry-run   what dead processes held, and what would be removed
  ttmem clean             remove it)";

// A file that never became a segment has no process to name.
std::string name_of(const Reaped& reaped) {
  return reaped.name.empty() ? reaped.path : reaped.name;
}

std::string table_of(const std::vector<Reaped>& reaped, const views::TextOptions& options) {
  using enum views::Column::Align;
  views::Table table({{"PID"},
                      {"USER", left, 3},
                      {"DRAM"},
                      {"L1"},
                      {"L1_SMALL", right, 2},
                      {"TRACE", right, 1},
                      {"CB"},
                      {"KERNELS"},
                      {"ALLOCS"},
                      {"NAME", left, 0, true}});
  for (const Reaped& r : reaped) {
    table.add_row({{r.pid > 0 ? fmt::format("{}", r.pid) : std::string(views::kUnknown)},
                   {r.user.empty() ? std::string(views::kUnknown) : r.user},
                   {format_bytes(r.dram_bytes)},
                   {format_bytes(r.l1_bytes)},
                   {format_bytes(r.l1_small_bytes)},
                   {format_bytes(r.trace_bytes)},
                   {format_bytes(r.cb_bytes)},
                   {format_bytes(r.kernels_bytes)},
                   {fmt::format("{}", r.allocations)},
                   {name_of(r)}});
  }
  return table.render(0, options);
}

int clean(bool dry_run) {
  const std::string directory = collector::segment_directory();
  const collector::ReapReport report = collector::reap(directory, dry_run);
  for (const std::string& warning : report.warnings) complain("warning: " + warning, kFailure);
  const views::TextOptions options = text_options(ColorWhen::automatic);
  std::string text;
  if (report.reaped.empty()) {
    text = fmt::format("Nothing to clean: no dead process has left anything in {}.", directory);
    text = views::printable(text, options.unicode) + "\n";
  } else {
    const std::string count = views::plural(report.reaped.size(), "dead process", "dead processes");
    text = fmt::format(
        "{} held:\n{}\n{}\n", count, table_of(report.reaped, options),
        dry_run ? "Nothing was removed: --dry-run. `ttmem clean` removes it." : "Removed.");
  }
  const int printed = print(text);
  return printed == kSuccess && report.warnings.empty() ? kSuccess : kFailure;
}

}  // namespace

void add_clean(CLI::App& app, Action& action) {
  auto dry_run = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("clean", "Remove what dead processes left, after saying what they held");
  command->add_flag("--dry-run", *dry_run, "Only say what would be removed");
  command->footer(kExamples);
  command->callback([dry_run, &action] { action = [dry_run] { return clean(*dry_run); }; });
}

}  // namespace ttmem::cli
