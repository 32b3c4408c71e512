// SPDX-License-Identifier: Apache-2.0
#include "analyse/leaks/live_leaks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "analyse/leaks/leak_sums.hpp"
#include "analyse/leaks/live_filter.hpp"
#include "analyse/leaks/outlived_scopes.hpp"
#include "analyse/selection/select.hpp"

namespace ttmem::leaks {
namespace {

using model::Snapshot;
using model::State;

void set_process(const model::Process* process, Leak& leak) {
  if (process == nullptr) return;
  leak.process = process->name;
  leak.pid = process->pid;
  leak.host_pid = process->host_pid;
  leak.foreign_pid = process->foreign_pid;
}

Leak leak_of(const Snapshot& snapshot, const model::Allocation& allocation) {
  Leak leak;
  leak.pid = allocation.pid;
  set_process(selection::process_of(snapshot, allocation), leak);
  leak.kind = allocation.kind;
  leak.scope = allocation.scope;
  leak.label = allocation.label;
  for (const std::uint32_t device : model::devices_of(allocation)) {
    leak.bytes_on.add(snapshot.devices[device].id,
                      allocation.physical_bytes.value_or(allocation.bytes));
  }
  leak.count = model::devices_of(allocation).size();
  if (allocation.age_ns != 0) leak.age_ns = allocation.age_ns;
  return leak;
}

Leak leak_of(const Snapshot& snapshot, const model::Program& program) {
  Leak leak;
  leak.pid = program.pid;
  set_process(selection::process_of(snapshot, program), leak);
  leak.kind = Kind::cb;
  leak.scope = program.scope;
  leak.label = program.name;
  leak.bytes_on.add(snapshot.devices[program.device].id, 0);
  leak.count = 1;
  if (program.age_ns != 0) leak.age_ns = program.age_ns;
  return leak;
}

// Returns the number of programs of a process on a device. Returns nullopt if the snapshot lists
// none.
std::optional<std::uint64_t> programs_of(const Snapshot& snapshot, const model::Process& process,
                                         std::uint32_t device) {
  const auto count = std::count_if(
      snapshot.programs.begin(), snapshot.programs.end(), [&](const model::Program& program) {
        return program.device == device && model::key_of(program) == model::key_of(process);
      });
  return count > 0 ? std::optional(static_cast<std::uint64_t>(count)) : std::nullopt;
}

// Returns the memory of one kind that a dead process held, from the figures of the process.
Leak leak_of(const Snapshot& snapshot, const model::Process& process, std::uint32_t device,
             Kind kind) {
  Leak leak;
  set_process(&process, leak);
  leak.kind = kind;
  leak.bytes_on.add(snapshot.devices[device].id, process.used(kind).value_or(0));
  leak.count = kind == Kind::cb ? programs_of(snapshot, process, device)
                                : process.kinds[kind].get(&KindFigures::live);
  leak.shared = kind == Kind::cb;
  return leak;
}

// Adds the circular buffers of dead processes. If a dead process is known only from TT-Metal's
// region, adds all memory of the process.
void add_figures(const Snapshot& snapshot, const Filter& filter, LeakSums& dead) {
  for (std::uint32_t device = 0; device < snapshot.devices.size(); ++device) {
    for (const model::Process& process : snapshot.devices[device].processes) {
      if (process.state != State::dead) continue;
      if (filter.pid && process.pid != *filter.pid && process.host_pid != filter.pid) continue;
      for (const Kind kind : kDeviceKinds) {
        const bool listed = process.source == model::Source::ttmem && kind != Kind::cb;
        if (listed || process.used(kind).value_or(0) == 0 || !filter.takes(kind)) continue;
        dead.add(process.segment, leak_of(snapshot, process, device, kind));
      }
    }
  }
}

std::vector<Leak> dead_processes(const Snapshot& snapshot, const Filter& filter) {
  LeakSums dead;
  for (const model::Allocation& allocation : snapshot.allocations) {
    const bool counts = allocation.state == State::dead && !allocation.left_out;
    if (!counts || !takes(snapshot, filter, allocation.kind, allocation)) continue;
    if (allocation.persistent) continue;
    dead.add(allocation.segment, leak_of(snapshot, allocation));
  }
  add_figures(snapshot, filter, dead);
  return dead.take();
}

std::vector<Leak> closed_devices(const Snapshot& snapshot, const Filter& filter) {
  LeakSums closed;
  // Returns nothing if only some kinds are wanted, because the kinds of the memory are unknown.
  if (!filter.kinds.empty()) return {};
  for (const model::LeftAtClose& left : snapshot.left_at_close) {
    if (filter.pid && left.pid != *filter.pid && left.host_pid != filter.pid) continue;
    const bool wanted =
        filter.devices.empty() ||
        std::any_of(filter.devices.begin(), filter.devices.end(),
                    [&](const model::DeviceName& name) {
                      return !name.uid && name.bus_id.empty() && name.number == left.device_number;
                    });
    if (!wanted) continue;
    Leak leak;
    leak.process = left.name;
    leak.pid = left.pid;
    leak.host_pid = left.host_pid;
    leak.foreign_pid = left.foreign_pid;
    leak.bytes_on.add(left.device_number, left.bytes);
    leak.count = left.allocations;
    closed.add(left.segment, leak);
  }
  return closed.take();
}

void outlived_scopes(const Snapshot& snapshot, const Filter& filter, Leaks& leaks) {
  OutlivedScopes outlived;
  for (const model::Allocation& allocation : snapshot.allocations) {
    if (allocation.left_out || allocation.persistent) continue;
    if (!takes(snapshot, filter, allocation.kind, allocation)) continue;
    Leak leak = leak_of(snapshot, allocation);
    leak.count = 1;
    outlived.add(allocation.segment, Outlived::Of::allocations, allocation.visit, leak);
  }
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;  // a program of a mesh counts once
  for (const model::Program& program : snapshot.programs) {
    if (!takes(snapshot, filter, Kind::cb, program)) continue;
    if (!seen.emplace(program.segment, program.program).second) continue;
    outlived.add(program.segment, Outlived::Of::programs, program.visit,
                 leak_of(snapshot, program));
  }
  leaks.outlived_scope = outlived.take();
  if (auto unknown = outlived.unknown()) leaks.unknown.push_back(std::move(*unknown));
}

}  // namespace

Leaks live_leaks(const Snapshot& snapshot, const Filter& filter) {
  Leaks leaks;
  leaks.dead_process = dead_processes(snapshot, filter);
  leaks.closed_device = closed_devices(snapshot, filter);
  leaks.looked_at = {"what dead processes held", "what was left on closed devices",
                     "what outlived its scope"};
  leaks.unknown = snapshot.unread;
  outlived_scopes(snapshot, filter, leaks);
  if (!snapshot.complete()) leaks.saw = snapshot.blind() ? Leaks::Saw::nothing : Leaks::Saw::some;
  return leaks;
}

}  // namespace ttmem::leaks
