// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <vector>

#include "analyse/selection/select.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/server_options.hpp"
#include "show/views/allocation_groups.hpp"
#include "show/views/allocations.hpp"
#include "show/views/json.hpp"

namespace ttmem::cli {
namespace {

constexpr const char* kAllocsExamples = R"(
Examples:
  ttmem allocs                        all allocations, the largest first
  ttmem allocs --kind l1,l1_small     the buffers that circular buffers may clash with
  ttmem allocs --kind cb --device 0   the circular buffers of device 0, by program
  ttmem allocs --group-by label       the sums of tensors with equal names
  ttmem allocs --pid 4711 --json
  ttmem allocs --csv > allocations.csv)";

// Returns the number of circular buffers that the list omits. Only a list without --kind omits
// circular buffers.
std::uint64_t hidden_cbs(const model::Snapshot& snapshot,
                         const selection::AllocationFilter& filter) {
  if (!filter.kinds.empty()) return 0;
  std::uint64_t count = 0;
  for (const model::Program& program : snapshot.programs) {
    if (selection::matches(filter, snapshot, program)) count += program.cbs.size();
  }
  return count;
}

struct AllocsOptions {
  selection::AllocationFilter filter;
  std::optional<views::GroupBy> group_by;
};

int print_groups(const model::Snapshot& snapshot, const std::vector<model::Allocation>& list,
                 views::GroupBy by, const CommonOptions& common) {
  const auto groups = views::group_allocations(snapshot, list, by);
  if (common.json) {
    return print_of(snapshot,
                    views::allocation_groups_json(snapshot, groups, by, views::JsonLayout::pretty));
  }
  return print_of(snapshot, common.csv
                                ? views::allocation_groups_csv(groups, by)
                                : views::allocation_groups_text(groups, by, text_options(common)));
}

int allocs(const AllocsOptions& options, const CommonOptions& common) {
  const Result<model::Snapshot> snapshot = current_snapshot(common);
  if (!snapshot) return complain(snapshot.error().message, kFailure);
  const auto list = selection::select_allocations(*snapshot, options.filter);
  if (!common.json) print_warnings(snapshot->warnings);
  if (options.group_by) return print_groups(*snapshot, list, *options.group_by, common);
  if (common.json)
    return print_of(*snapshot, views::allocations_json(*snapshot, list, views::JsonLayout::pretty));
  if (common.csv) return print_of(*snapshot, views::allocations_csv(*snapshot, list));
  return print_of(*snapshot,
                  views::allocations_text(*snapshot, list, hidden_cbs(*snapshot, options.filter),
                                          text_options(common)));
}

}  // namespace

void add_allocs(Command& app, CommonOptions& common) {
  auto options = std::make_shared<AllocsOptions>();
  Command command =
      app.add_subcommand("allocs", "Every live allocation, the largest first", kAllocsExamples);
  add_common(command, common);
  add_server(command, common);
  command.add_flag("--csv", common.csv, "As CSV: one row per allocation, sizes in bytes");
  command.add_option("--pid", "PID", options->filter.pid, parse_pid,
                     "Only allocations of this process");
  command.add_option("--job", "JOB", options->filter.job, "Only allocations of this job or pod");
  command.add_option("--kind", "LIST", options->filter.kinds, parse_kinds,
                     "Only these kinds: dram, l1, l1_small, trace, kernel, cb, system");
  command.add_option("--group-by", "WHAT", options->group_by,
                     parse_for("--group-by", views::parse_group_by),
                     "Add up allocations with the same label, scope, kind, process, job or device");
  command.does([options, &common] { return allocs(*options, common); });
}

}  // namespace ttmem::cli
