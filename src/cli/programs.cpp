// SPDX-License-Identifier: Apache-2.0
#include "views/programs.hpp"

#include <memory>
#include <optional>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "views/json.hpp"
#include "views/select.hpp"

namespace ttmem::cli {
namespace {

struct ProgramsOptions {
  std::string pid;
  std::string limit = "40";
};

constexpr const char* kExamples = R"(
Examples:
  ttmem programs                which programs take the most L1
  ttmem programs --device 0     on one device
  ttmem programs --limit 1000   a longer list
  ttmem programs --json         all, with their circular buffers)";

int programs(const ProgramsOptions& options, const CommonOptions& typed) {
  const Result<CommonValues> common = values_of(typed);
  if (!common) return complain(common.error().message, kUsage);
  const Result<std::uint64_t> limit = parse_count("--limit", options.limit);
  if (!limit) return complain(limit.error().message, kUsage);
  std::optional<std::int32_t> of_process;
  if (!options.pid.empty()) {
    const Result<std::int32_t> pid = parse_pid(options.pid);
    if (!pid) return complain(pid.error().message, kUsage);
    of_process = *pid;
  }
  const Result<model::Snapshot> snapshot = current_snapshot(common->devices);
  if (!snapshot) return complain(snapshot.error().message, kFailure);
  const auto list = views::select_programs(*snapshot, of_process);
  if (typed.json) return print(programs_json(*snapshot, list, views::JsonLayout::pretty));
  print_warnings(*snapshot);
  return print(programs_text(*snapshot, list, *limit, text_options(common->color)));
}

}  // namespace

void add_programs(Command& app, CommonOptions& common, Action& action) {
  auto options = std::make_shared<ProgramsOptions>();
  Command command =
      app.add_subcommand("programs", "Live programs and what their circular buffers take");
  add_common(command, common);
  command.add_option("--pid", options->pid, "Only those of this process").type_name("PID");
  command.add_option("--limit", options->limit, "Lines to print (40); --json prints all")
      .type_name("N");
  command.footer(kExamples);
  command.callback([options, &common, &action] {
    action = [options, &common] { return programs(*options, common); };
  });
}

}  // namespace ttmem::cli
