// SPDX-License-Identifier: Apache-2.0
#include "show/views/programs.hpp"

#include <functional>
#include <memory>
#include <optional>

#include "analyse/selection/select.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/server_options.hpp"
#include "show/views/json.hpp"

namespace ttmem::cli {
namespace {

struct ProgramsOptions {
  std::optional<std::int32_t> pid;
  std::uint64_t limit = 40;
};

constexpr const char* kProgramsExamples = R"(
Examples:
  ttmem programs                the programs that take the most L1
  ttmem programs --device 0     on one device
  ttmem programs --limit 1000   a longer list
  ttmem programs --json         all, with their circular buffers
  ttmem programs --csv          all, for a spreadsheet)";

int programs(const ProgramsOptions& options, const CommonOptions& common) {
  const Result<model::Snapshot> snapshot = current_snapshot(common);
  if (!snapshot) return complain(snapshot.error().message, kFailure);
  const auto list = selection::select_programs(*snapshot, options.pid);
  if (common.json)
    return print_of(*snapshot, views::programs_json(*snapshot, list, views::JsonLayout::pretty));
  print_warnings(snapshot->warnings);
  if (common.csv) return print_of(*snapshot, views::programs_csv(*snapshot, list));
  return print_of(*snapshot,
                  views::programs_text(*snapshot, list, options.limit, text_options(common)));
}

}  // namespace

void add_programs(Command& app, CommonOptions& common) {
  auto options = std::make_shared<ProgramsOptions>();
  Command command = app.add_subcommand(
      "programs", "Live programs, and the size of their circular buffers", kProgramsExamples);
  add_common(command, common);
  add_server(command, common);
  command.add_flag("--csv", common.csv, "As CSV: one row per program, sizes in bytes");
  command.add_option("--pid", "PID", options->pid, parse_pid, "Only programs of this process");
  command.add_option("--limit", "N", options->limit, std::bind_front(parse_count, "--limit"),
                     "Lines to print (40); --json and --csv print all");
  command.does([options, &common] { return programs(*options, common); });
}

}  // namespace ttmem::cli
