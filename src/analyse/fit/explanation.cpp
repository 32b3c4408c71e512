// SPDX-License-Identifier: Apache-2.0
#include "analyse/fit/explanation.hpp"

#include <algorithm>
#include <utility>

#include "analyse/explain/explain.hpp"
#include "analyse/explain/failure_message.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::fit {
namespace {

using What = explain::FailureMessage::What;

// Returns the message that the runtime would write on the board.
explain::FailureMessage message_of(const FailedRequest& failure) {
  explain::FailureMessage said;
  if (failure.kind == Kind::cb) {
    said.what = failure.cause == Cause::beyond_l1 ? What::beyond_l1 : What::clash;
    said.program = failure.program;
    said.cores = explain::FailureMessage::Cores{failure.cores.x0, failure.cores.y0,
                                                failure.cores.x1, failure.cores.y1};
    said.cb_end = failure.cb_end;
    said.l1_address = failure.lowest_l1;
    said.l1_bytes = failure.l1_bytes;
    return said;
  }
  if (failure.cause == Cause::trace_region) {
    said.what = What::trace_region;
    said.needed = failure.trace_bytes + failure.bytes;
    said.limit = failure.trace_region_bytes;
    return said;
  }
  said.kind = failure.kind;
  said.bytes = failure.bytes;
  said.bytes_per_bank = failure.bytes_per_bank;
  said.bank_bytes = failure.bank_bytes;
  said.free_per_bank = failure.free_bytes;
  said.largest_free_per_bank = failure.largest_free_bytes;
  return said;
}

model::Device device_of(const BoardFit& board, const FailedRequest& failure) {
  const placement::Board& facts = board.board;
  const Opened& opened = *board.opened;
  model::Device device;
  device.id = failure.devices.front();
  device.arch = placement::name_of(facts.chip.arch);
  device.board = facts.system;
  device.grid_x = static_cast<std::uint16_t>(opened.grid.x);
  device.grid_y = static_cast<std::uint16_t>(opened.grid.y);
  device.l1_bytes_per_core = opened.map.l1_bytes;
  device.l1_base = opened.map.l1_base;
  device.l1_small_region_bytes = opened.map.l1_small_bytes;
  device.dram_channels = opened.map.dram_channels;
  device.dram_capacity_bytes = opened.map.dram_bytes_per_channel * opened.map.dram_channels;
  device.trace_capacity_bytes = opened.map.trace_region_bytes;
  device.processes.emplace_back().name = failure.process;
  return device;
}

model::Allocation held(const PlacedBuffer& buffer, Time now) {
  model::Allocation allocation;
  allocation.kind = buffer.kind;
  allocation.address = buffer.address;
  allocation.bytes = buffer.bytes_per_bank;
  allocation.bytes_per_bank = buffer.bytes_per_bank;
  allocation.label = buffer.label;
  allocation.scope = buffer.scope;
  allocation.age_ns = static_cast<std::uint64_t>(std::max<Time>(now - buffer.since_ns, 0));
  return allocation;
}

// Returns a snapshot of the buffers that the board holds at the failure, as if a collector had read
// the board.
model::Snapshot state_of(const BoardFit& board, const FailedRequest& failure) {
  model::Snapshot state;
  state.devices.push_back(device_of(board, failure));
  for (const PlacedBuffer& buffer : failure.placed) {
    state.allocations.push_back(held(buffer, failure.time_ns));
  }
  if (failure.kind != Kind::cb) return state;
  model::Program& program = state.programs.emplace_back();
  program.program = failure.program;
  program.name = failure.label;
  program.scope = failure.scope;
  const std::uint64_t base = board.opened->map.l1_base;
  const std::uint64_t end = std::min(failure.cb_end, failure.l1_bytes);
  program.cbs.push_back({base, end - std::min(end, base), {}, false});
  return state;
}

}  // namespace

explain::Explanation explanation_of(const BoardFit& board) {
  const FailedRequest& failure = *board.failure;
  const model::Snapshot state = state_of(board, failure);
  return explain::explain(
      {.failure = message_of(failure), .state = &state, .source = explain::StateSource::failure});
}

}  // namespace ttmem::fit
