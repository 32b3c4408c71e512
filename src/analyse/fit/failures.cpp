// SPDX-License-Identifier: Apache-2.0
//
// Describes the first request that fails.
#include <algorithm>
#include <tuple>

#include "analyse/fit/simulation.hpp"
#include "base/safe_text.hpp"

namespace ttmem::fit {

using recording::RecordedAllocation;
using recording::RecordedProgram;

void Simulation::describe(const std::vector<RowId>& devices, std::uint32_t scope,
                          std::uint32_t label, FailedRequest& failure) {
  const recording::Tables& tables = plan_.tables;
  failing_ = devices.front();
  failure.time_ns = now_;
  failure.request = requests_;
  failure.scope = safe_text(tables.scope(scope));
  failure.label = safe_text(tables.text(label));
  failure.process = safe_text(tables.process(tables.device(devices.front()).process).name);
  for (const RowId device : devices) failure.devices.push_back(tables.device(device).number);
}

void Simulation::fail(const RecordedAllocation& allocation, const Allocator& in, Cause cause) {
  const std::vector<RowId>& devices = plan_.tables.device_set(allocation.devices);
  const recording::RecordedRequest& request =
      plan_.request(plan_.request_on(devices.front(), allocation.request)).request;
  const auto left = in.statistics(request.kind);
  FailedRequest failure;
  describe(devices, request.scope, request.label, failure);
  failure.cause = cause;
  failure.kind = request.kind;
  failure.bytes = request.bytes;
  failure.bytes_per_bank = request.bytes_per_bank;
  failure.bank_bytes = left.total_bytes;
  failure.free_bytes = left.free_bytes;
  failure.largest_free_bytes = left.largest_free_block_bytes;
  failure.l1_bytes = in.map().l1_bytes;
  failure.trace_region_bytes = in.map().trace_region_bytes;
  failure.trace_bytes = in.trace_bytes();
  // Untranslated requests were left out, so on the real board even less memory is free. So the
  // failure is certain if all free bytes together do not suffice, or if the traces exceed the trace
  // region.
  const bool is_too_much = request.bytes_per_bank > left.free_bytes || cause == Cause::trace_region;
  failure.certain = is_too_much || !unknown_.touched(request.kind);
  failure.placed = placed_in({allocation.devices});
  failure_ = std::move(failure);
}

void Simulation::fail(const RecordedProgram& program, const std::vector<RowId>& devices,
                      const placement::CbStack& stack, std::optional<std::uint64_t> lowest,
                      const std::vector<RowId>& sets, bool at_dispatch) {
  const std::uint64_t l1_bytes = plan_.target(devices.front()).map.l1_bytes;
  FailedRequest failure;
  describe(devices, program.scope, program.name, failure);
  failure.cause = stack.end > l1_bytes ? Cause::beyond_l1 : Cause::clash;
  failure.kind = Kind::cb;
  failure.at_dispatch = at_dispatch;
  failure.program = program.number;
  failure.cores = stack.range;
  failure.cb_end = stack.end;
  failure.lowest_l1 = lowest.value_or(0);
  failure.l1_bytes = l1_bytes;
  // True if the program does not fit, wherever the known buffers lie. The failure is then certain.
  bool has_no_room = failure.cause == Cause::beyond_l1;
  for (const RowId set : sets) {
    const Allocator& in = *allocators_[static_cast<std::size_t>(set - 1)];
    const std::uint64_t top = in.map().region(Kind::l1).end;
    has_no_room = has_no_room || top - in.statistics(Kind::l1).allocated_bytes < stack.end;
  }
  failure.certain = has_no_room || !unknown_.touched(Kind::l1);
  failure.placed = placed_in(sets);
  failure_ = std::move(failure);
}

std::vector<PlacedBuffer> Simulation::placed_in(const std::vector<RowId>& sets) const {
  const recording::Tables& tables = plan_.tables;
  std::vector<PlacedBuffer> placed;
  for (const auto& [row, live] : live_) {
    if (std::find(sets.begin(), sets.end(), live.live.set) == sets.end()) continue;
    const RowId device = tables.device_set(live.allocation.devices).front();
    const recording::RecordedRequest& request =
        plan_.request(plan_.request_on(device, live.allocation.request)).request;
    placed.push_back({.kind = request.kind,
                      .address = *live.live.address,
                      .bytes_per_bank = request.bytes_per_bank,
                      .scope = safe_text(tables.scope(request.scope)),
                      .label = safe_text(tables.text(request.label)),
                      .process = safe_text(tables.process(tables.device(device).process).name),
                      .since_ns = live.allocation.begin_ns});
  }
  std::sort(placed.begin(), placed.end(), [](const PlacedBuffer& a, const PlacedBuffer& b) {
    return std::tuple(a.kind, a.address) < std::tuple(b.kind, b.address);
  });
  return placed;
}

}  // namespace ttmem::fit
