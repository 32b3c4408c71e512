// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "views/allocations.hpp"
#include "views/json.hpp"
#include "views/select.hpp"

namespace ttmem::cli {
namespace {

struct AllocsOptions {
  std::string pid;
  std::string kinds;
};

constexpr const char* kExamples = R"(
Examples:
  ttmem allocs                        everything that is allocated, the largest first
  ttmem allocs --kind l1,l1_small     what circular buffers may clash with
  ttmem allocs --kind cb --device 0   the circular buffers of device 0, by program
  ttmem allocs --pid 4711 --json)";

Result<views::AllocationFilter> filter_of(const AllocsOptions& options) {
  views::AllocationFilter filter;
  if (!options.pid.empty()) {
    const Result<std::int32_t> pid = parse_pid(options.pid);
    if (!pid) return pid.error();
    filter.pid = *pid;
  }
  if (!options.kinds.empty()) {
    Result<std::vector<Kind>> kinds = parse_kinds(options.kinds);
    if (!kinds) return kinds.error();
    filter.kinds = std::move(*kinds);
  }
  return filter;
}

// Circular buffers that the list leaves out without --kind cb.
std::uint64_t hidden_cbs(const model::Snapshot& snapshot, const views::AllocationFilter& filter) {
  if (!filter.kinds.empty()) return 0;
  std::uint64_t count = 0;
  for (const model::Program& program : snapshot.programs) {
    if (!filter.pid || *filter.pid == program.pid) count += program.cbs.size();
  }
  return count;
}

int allocs(const AllocsOptions& options, const CommonOptions& typed) {
  const Result<CommonValues> common = values_of(typed);
  if (!common) return complain(common.error().message, kUsage);
  const Result<views::AllocationFilter> filter = filter_of(options);
  if (!filter) return complain(filter.error().message, kUsage);
  const Result<model::Snapshot> snapshot = current_snapshot(common->devices);
  if (!snapshot) return complain(snapshot.error().message, kFailure);
  const auto list = views::select_allocations(*snapshot, *filter);
  if (typed.json) return print(allocations_json(*snapshot, list, views::JsonLayout::pretty));
  print_warnings(*snapshot);
  return print(allocations_text(*snapshot, list, hidden_cbs(*snapshot, *filter),
                                text_options(common->color)));
}

}  // namespace

void add_allocs(Command& app, CommonOptions& common, Action& action) {
  auto options = std::make_shared<AllocsOptions>();
  Command command = app.add_subcommand("allocs", "Every live allocation, the largest first");
  add_common(command, common);
  command.add_option("--pid", options->pid, "Only what this process holds").type_name("PID");
  command
      .add_option("--kind", options->kinds,
                  "Only these kinds: dram, l1, l1_small, trace, kernel, cb, system")
      .type_name("LIST");
  command.footer(kExamples);
  command.callback([options, &common, &action] {
    action = [options, &common] { return allocs(*options, common); };
  });
}

}  // namespace ttmem::cli
