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

constexpr const char* kExamples = R"(
Examples:
  ttmem allocs                        everything that is allocated, the largest first
  ttmem allocs --kind l1,l1_small     what circular buffers may clash with
  ttmem allocs --kind cb --device 0   the circular buffers of device 0, by program
  ttmem allocs --pid 4711 --json)";

// Circular buffers that the list leaves out without --kind cb.
std::uint64_t hidden_cbs(const model::Snapshot& snapshot, const views::AllocationFilter& filter) {
  if (!filter.kinds.empty()) return 0;
  std::uint64_t count = 0;
  for (const model::Program& program : snapshot.programs) {
    if (!filter.pid || views::is_of(snapshot, program, *filter.pid)) count += program.cbs.size();
  }
  return count;
}

int allocs(const views::AllocationFilter& filter, const CommonOptions& common) {
  const Result<model::Snapshot> snapshot = current_snapshot(common.devices);
  if (!snapshot) return complain(snapshot.error().message, kFailure);
  const auto list = views::select_allocations(*snapshot, filter);
  if (common.json) return print(allocations_json(*snapshot, list, views::JsonLayout::pretty));
  print_warnings(snapshot->warnings);
  return print(
      allocations_text(*snapshot, list, hidden_cbs(*snapshot, filter), text_options(common.color)));
}

}  // namespace

void add_allocs(Command& app, CommonOptions& common) {
  auto filter = std::make_shared<views::AllocationFilter>();
  Command command =
      app.add_subcommand("allocs", "Every live allocation, the largest first", kExamples);
  add_common(command, common);
  command.add_option("--pid", "PID", filter->pid, parse_pid, "Only what this process holds");
  command.add_option("--kind", "LIST", filter->kinds, parse_kinds,
                     "Only these kinds: dram, l1, l1_small, trace, kernel, cb, system");
  command.does([filter, &common] { return allocs(*filter, common); });
}

}  // namespace ttmem::cli
