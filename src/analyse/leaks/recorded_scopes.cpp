// SPDX-License-Identifier: Apache-2.0
#include "analyse/leaks/recorded_scopes.hpp"

#include "base/safe_text.hpp"
#include "base/scope_visits.hpp"

namespace ttmem::leaks {
namespace {

using recording::Ending;
using recording::RecordedAllocation;
using recording::RecordedProgram;
using recording::RowId;
using recording::Time;

bool was_there(Ending ending) { return ending == Ending::none || was_left(ending); }

}  // namespace

void RecordedScopes::add(const RecordedAllocation& allocation) {
  const recording::RecordedRequest& request = tables_.request(allocation.request);
  if (request.scope == 0 || request.is_persistent() || !filter_.takes(request.kind)) return;
  const std::vector<RowId>& devices = tables_.device_set(allocation.devices);
  MeshBuffer buffer = take_over(allocation);
  const auto add_left = [&](const std::vector<RowId>& left) {
    buffer.left_on.insert(buffer.left_on.end(), left.begin(), left.end());
  };
  add_left(left_on(tables_, allocation));
  if (allocation.ending == Ending::none) add_left(tables_.device_set(allocation.last_devices()));
  if (allocation.ending == Ending::changed && allocation.end_ns && devices.size() > 1) {
    going_on_[step_at(*allocation.end_ns, allocation)] = std::move(buffer);
    return;
  }
  Leak leak = leak_on(buffer.left_on, request.used_bytes());
  if (leak.bytes_on.of_each().empty()) return;
  leak.kind = request.kind;
  leak.label = safe_text(tables_.text(request.label));
  leak.begin_ns = buffer.begin_ns;
  // If the buffer was freed on its last devices, it was left on another device that had been closed
  // before.
  const Ending ending = was_there(allocation.ending) ? allocation.ending : Ending::device_closed;
  add(devices.front(), request.scope, ending, Outlived::Of::allocations, std::move(leak));
}

RecordedScopes::Step RecordedScopes::step_at(Time time,
                                             const RecordedAllocation& allocation) const {
  const RowId device = tables_.device_set(allocation.devices).front();
  return {time, tables_.device(device).process, allocation.number, allocation.request,
          allocation.address};
}

RecordedScopes::MeshBuffer RecordedScopes::take_over(const RecordedAllocation& allocation) {
  // Removes the rows that ended before the begin of `allocation`. Rows are added in the order of
  // their begin, so no later row can continue a removed row.
  going_on_.erase(going_on_.begin(), going_on_.lower_bound({allocation.begin_ns, 0, 0, 0, {}}));
  const auto before = going_on_.find(step_at(allocation.begin_ns, allocation));
  if (before == going_on_.end()) return {.begin_ns = allocation.begin_ns};
  MeshBuffer buffer = std::move(before->second);
  going_on_.erase(before);
  return buffer;
}

void RecordedScopes::add(const RecordedProgram& program) {
  if (program.scope == 0 || !was_there(program.ending) || !filter_.takes(Kind::cb)) return;
  Leak leak = leak_on({program.device}, 0);
  const RowId process = tables_.device(program.device).process;
  if (leak.bytes_on.of_each().empty() || !programs_.emplace(process, program.number).second) return;
  leak.kind = Kind::cb;
  leak.label = safe_text(tables_.text(program.name));
  leak.begin_ns = program.begin_ns;
  add(program.device, program.scope, program.ending, Outlived::Of::programs, std::move(leak));
}

Leak RecordedScopes::leak_on(const std::vector<RowId>& devices, std::uint64_t bytes) const {
  Leak leak;
  leak.count = 1;
  for (const RowId row : devices) {
    if (!counts_[static_cast<std::size_t>(row - 1)]) continue;
    const recording::RecordedDevice& device = tables_.device(row);
    leak.bytes_on.add(device.number, bytes);
    leak.process = safe_text(tables_.process(device.process).name);
    leak.pid = tables_.process(device.process).pid;
  }
  return leak;
}

void RecordedScopes::add(RowId device, std::uint32_t scope, Ending ending, Outlived::Of of,
                         Leak leak) {
  const RowId process = tables_.device(device).process;
  const ScopeVisits visits = tables_.visits(process, scope);
  if (ending == Ending::device_closed && visits.entered == 1) return;
  leak.scope = safe_text(tables_.scope(scope));
  outlived_.add(static_cast<std::uint64_t>(process), of, visit_at(*leak.begin_ns, visits), leak);
}

void RecordedScopes::finish(Leaks& leaks) {
  leaks.outlived_scope = outlived_.take();
  leaks.looked_at.emplace_back("what outlived its scope");
  if (auto unknown = outlived_.unknown()) leaks.unknown.push_back(std::move(*unknown));
}

}  // namespace ttmem::leaks
