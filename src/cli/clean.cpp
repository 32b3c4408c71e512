// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "base/environment.hpp"
#include "cli/commands.hpp"
#include "read/collector/collector.hpp"
#include "read/collector/untracked_marks.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

namespace ttmem::cli {
namespace {

using collector::DeadSegment;
using text::format_bytes;

constexpr const char* kCleanExamples = R"(
Examples:
  ttmem clean --dry-run   show what dead processes held, and what would be removed
  ttmem clean             remove the segments of dead processes, and TT-Metal's regions
                          that no live process uses)";

// Returns the name of the process, or the path of the file if the file never became a segment. Such
// a file names no process.
std::string name_of(const DeadSegment& dead) { return dead.name.empty() ? dead.path : dead.name; }

std::string table_of(const std::vector<DeadSegment>& dead, const text::TextOptions& options) {
  using enum text::Column::Align;
  static_assert(kDeviceKinds.size() == 6, "a heading for each, in their order");
  text::Table table({{"PID"},
                     {"USER", left, 3},
                     {"DRAM"},
                     {"L1"},
                     {"L1_SMALL", right, 2},
                     {"TRACE", right, 1},
                     {"CB"},
                     {"KERNELS"},
                     {"ALLOCS"},
                     {"JOB", left, 4, text::Column::Cut::never, true},
                     {"NAME", left, 0, text::Column::Cut::end}});
  for (const DeadSegment& r : dead) {
    std::vector<text::TableCell> row = {
        {r.pid > 0 ? text::format_pid(r.pid, r.pid_namespace.has_value(), {})
                   : std::string(text::kUnknown)},
        {r.user.empty() ? std::string(text::kUnknown) : r.user}};
    for (const Kind kind : kDeviceKinds) {
      const bool estimate = (kind == Kind::kernel && r.kernels_estimated_bytes > 0) ||
                            (kind == Kind::cb && r.cb_estimate);
      row.push_back({text::mark_estimate(format_bytes(r.kinds[kind].get(&KindFigures::used_bytes)),
                                         estimate)});
    }
    row.push_back({text::format_count(live_allocations(r.kinds))});
    row.push_back({text::or_none(text::format_job(r.job))});
    row.push_back({name_of(r)});
    table.add_row(std::move(row));
  }
  return table.render(0, options);
}

// Prints the text about held memory. The caller removes the files only if printing succeeded,
// because only the files contain these facts.
int print_held(const std::string& text) {
  switch (write_stdout(text)) {
    case Written::all:
      return kSuccess;
    case Written::closed:
      return complain("nothing was removed: standard output was closed; run `ttmem clean` again",
                      kFailure);
    default:
      return complain(fmt::format("nothing was removed: cannot write to standard output: {}; free "
                                  "space there, or write elsewhere",
                                  std::strerror(errno)),
                      kFailure);
  }
}

// Returns the text about processes that failed because memory ran out.
std::string text_of_failed(const std::vector<DeadSegment>& failed, bool unicode) {
  std::string text;
  for (const DeadSegment& copy : failed) {
    const std::string pid = text::format_pid(copy.pid, copy.pid_namespace.has_value(), {});
    text +=
        fmt::format("Process {} ({}) of {} failed, and what it held then is kept:\n  {}\n", pid,
                    text::printable(name_of(copy), unicode), copy.user,
                    text::printable(copy.failure.value_or("(the copy is not complete)"), unicode));
  }
  return text;
}

int remove_files(const std::string& directory, const std::vector<DeadSegment>& dead,
                 const collector::DeadRegions& regions,
                 const std::vector<collector::UntrackedMark>& marks) {
  const auto unused = static_cast<std::size_t>(std::count_if(
      regions.begin(), regions.end(), [](const auto& region) { return !region.in_use; }));
  const std::size_t files = dead.size() + unused + marks.size();
  if (files == 0) return kSuccess;
  collector::ReapReport report = collector::reap(directory, dead);
  const collector::ReapReport more = collector::reap_regions(regions);
  report.removed += more.removed + collector::remove_marks(directory, marks);
  report.warnings.insert(report.warnings.end(), more.warnings.begin(), more.warnings.end());
  print_warnings(report.warnings);
  const int printed =
      print(report.removed == files ? "Removed.\n"
                                    : fmt::format("Removed {} of {}.\n", report.removed, files));
  return printed == kSuccess && report.warnings.empty() ? kSuccess : kFailure;
}

// Returns the text about memory that dead processes held.
std::string text_of(const std::vector<DeadSegment>& dead, std::size_t abandoned, std::size_t kept,
                    const text::TextOptions& options) {
  std::string text;
  if (!dead.empty()) {
    text =
        fmt::format("{} held:\n{}\n", text::plural(dead.size(), "dead process", "dead processes"),
                    table_of(dead, options));
  }
  if (abandoned > 0) {
    text += fmt::format("{} written for clients by a server that is gone.\n",
                        text::plural(abandoned, "segment was", "segments were"));
  }
  if (kept > 0) {
    text += fmt::format("{} kept for `ttmem run` or `ttmem record`, which is gone.\n",
                        text::plural(kept, "segment was", "segments were"));
  }
  return text;
}

// Returns for example "  process 4711 (model) of alice: dram 1.00 MiB, cb 0.25 MiB".
std::string line_of(const collector::RowEvidence& row, bool unicode) {
  std::string held;
  for (const Kind kind : kDeviceKinds) {
    const model::Bytes bytes = row.row.kinds[kind].get(&KindFigures::used_bytes);
    if (bytes && *bytes > 0) {
      held += fmt::format("{}{} {}", held.empty() ? "" : ", ", key_of(kind), format_bytes(*bytes));
    }
  }
  return fmt::format("  process {} ({}) of {}: {}\n", row.row.pid,
                     text::printable(row.row.name, unicode), row.user,
                     held.empty() ? "nothing" : held);
}

// Returns the text about dead processes in TT-Metal's own statistics.
std::string text_of(const collector::DeadRegions& regions, bool unicode) {
  std::string text;
  for (const collector::DeadRegion& region : regions) {
    text += fmt::format("Rows of dead processes in TT-Metal's own {}:\n",
                        text::printable(region.path, unicode));
    for (const collector::RowEvidence& row : region.dead) text += line_of(row, unicode);
    if (region.in_use) {
      text +=
          "It is in use and stays; run `ttmem clean` again when no TT-Metal process uses that "
          "chip.\n";
    }
  }
  return text;
}

std::string text_of(const std::vector<collector::UntrackedMark>& marks) {
  collector::NotTracked counts;
  for (const collector::UntrackedMark& mark : marks) collector::count(mark, counts);
  std::string text;
  for (const std::string& sentence : collector::sentences(counts)) text += sentence + "\n";
  return text;
}

// The segments that are removed in addition to the segments of dead processes: proxy segments whose
// server is gone, copies that were saved at an out-of-memory failure, and segments that were kept
// for a reader that is gone.
struct Others {
  collector::DeadSegments abandoned;
  collector::DeadSegments failed;
  collector::DeadSegments kept;

  [[nodiscard]] std::vector<DeadSegment> segments() const {
    std::vector<DeadSegment> all;
    for (const auto* each : {&abandoned, &failed, &kept}) {
      all.insert(all.end(), each->segments.begin(), each->segments.end());
    }
    return all;
  }
  void append_warnings(std::vector<std::string>& warnings) const {
    for (const auto* each : {&abandoned, &failed, &kept}) {
      warnings.insert(warnings.end(), each->warnings.begin(), each->warnings.end());
    }
  }
};

std::string nothing_found(const std::string& directory, const std::vector<std::string>& warnings,
                          bool unicode) {
  if (warnings.empty()) {
    return text::printable(
               fmt::format("Nothing to clean: no dead process has left anything in {}.", directory),
               unicode) +
           "\n";
  }
  std::string text = text::printable(
      fmt::format("Nothing was found to clean in {}, but not everything could be read:", directory),
      unicode);
  for (const std::string& warning : warnings) text += "\n" + text::printable(warning, unicode);
  return text + "\n";
}

int clean(bool dry_run) {
  const std::string directory = segment_directory();
  collector::DeadSegments dead = collector::find_dead(directory);
  const Others others{collector::find_abandoned(directory), collector::find_failed(directory),
                      collector::find_kept(directory)};
  others.append_warnings(dead.warnings);
  print_warnings(dead.warnings);
  const int found = dead.warnings.empty() ? kSuccess : kFailure;
  const text::TextOptions options = text_options(ColorWhen::automatic);
  const collector::DeadRegions regions = collector::find_dead_regions(directory);
  const std::vector<DeadSegment> more = others.segments();
  const std::vector<collector::UntrackedMark> marks = collector::find_dead_marks(directory);
  if (dead.segments.empty() && more.empty() && regions.empty() && marks.empty()) {
    return std::max(print(nothing_found(directory, dead.warnings, options.unicode)), found);
  }
  const std::string held = text_of(dead.segments, others.abandoned.segments.size(),
                                   others.kept.segments.size(), options) +
                           text_of_failed(others.failed.segments, options.unicode) +
                           text_of(regions, options.unicode) + text_of(marks);
  if (dry_run) {
    return std::max(print(held + "Nothing was removed: --dry-run. `ttmem clean` removes it.\n"),
                    found);
  }
  const int said = print_held(held);
  if (said != kSuccess) return said;
  dead.segments.insert(dead.segments.end(), more.begin(), more.end());
  return std::max(remove_files(directory, dead.segments, regions, marks), found);
}

}  // namespace

void add_clean(Command& app) {
  auto dry_run = std::make_shared<bool>(false);
  Command command = app.add_subcommand(
      "clean", "Show what dead processes held, and remove what they left", kCleanExamples);
  command.add_flag("--dry-run", *dry_run, "Only show what would be removed");
  command.does([dry_run] { return clean(*dry_run); });
}

}  // namespace ttmem::cli
