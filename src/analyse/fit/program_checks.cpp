// SPDX-License-Identifier: Apache-2.0
//
// Checks whether the circular buffers of programs clash with L1 buffers. Like the runtime, checks a
// program when it is placed and each time it is dispatched.
#include <algorithm>
#include <utility>

#include "analyse/fit/simulation.hpp"

namespace ttmem::fit {

using recording::RecordedProgram;

// Checks the program that was placed last. A program of a mesh is placed on one chip after another.
// All its chips are known as soon as an event follows that does not place the program on a further
// chip.
void Simulation::check_placing() {
  if (placing_.devices.empty()) return;
  const Placing placed = std::exchange(placing_, {});
  const RecordedProgram& program = placed.program;
  const RowId layout = plan_.layout_on(program.device, program.layout);
  if (layout != 0 && plan_.layout(layout).why == Why::none) {
    return check_program(program, layout, placed.devices, false);
  }
  std::uint64_t bytes = 0;
  if (layout != 0) {
    for (const recording::RecordedCb& cb : plan_.layout(layout).layout) {
      if (!cb.global) bytes += std::uint64_t{cb.bytes} * cb.cores.count();
    }
  }
  unknown_.add(layout == 0 ? Why::cbs_unknown : plan_.layout(layout).why, Kind::cb, 1, bytes);
}

void Simulation::dispatch(const recording::Dispatch& dispatch) {
  const recording::Launch& launch = plan_.tables.launch(dispatch.launch);
  // The runtime does not check a program again when it replays a trace.
  if (launch.trace || launch.programs.empty()) return;
  const std::vector<RowId>& devices = plan_.tables.device_set(dispatch.devices);
  const auto known = programs_.find({devices.front(), launch.programs.front()});
  if (known == programs_.end()) return;
  const RowId layout = plan_.layout_on(devices.front(), known->second.layout);
  if (layout == 0 || plan_.layout(layout).why != Why::none) return;
  check_program(known->second, layout, devices, true);
}

void Simulation::check_program(const RecordedProgram& program, RowId layout,
                               const std::vector<RowId>& devices, bool at_dispatch) {
  const std::vector<RowId> sets = sets_for(devices);
  std::optional<std::uint64_t> lowest;
  for (const RowId set : sets) {
    const auto own = allocator(set).lowest_l1();
    if (own) lowest = std::min(lowest.value_or(*own), *own);
  }
  const std::uint64_t l1_bytes = plan_.target(devices.front()).map.l1_bytes;
  for (const placement::CbStack& stack : plan_.layout(layout).stacks) {
    const bool is_beyond = stack.end > l1_bytes;
    const bool clashes = stack.end != 0 && lowest && *lowest < stack.end;
    if (is_beyond || clashes) {
      return fail(program, devices, stack, lowest, sets, at_dispatch);
    }
  }
}

// Returns the device set that consists of exactly these devices, if it has buffers. Otherwise
// returns all device sets that have buffers and contain one of the devices.
std::vector<Simulation::RowId> Simulation::sets_for(const std::vector<RowId>& devices) const {
  std::vector<RowId> with_some;
  for (const RowId device : devices) {
    for (const RowId set : sets_of_device_[static_cast<std::size_t>(device - 1)]) {
      if (!allocators_[static_cast<std::size_t>(set - 1)]) continue;
      if (plan_.tables.device_set(set) == devices) return {set};
      if (std::find(with_some.begin(), with_some.end(), set) == with_some.end()) {
        with_some.push_back(set);
      }
    }
  }
  return with_some;
}

}  // namespace ttmem::fit
