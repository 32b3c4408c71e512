// SPDX-License-Identifier: Apache-2.0
#include "read/imports/event_writer.hpp"

namespace ttmem::imports {

using recording::Ending;
using recording::RowId;
using recording::Time;

void EventWriter::allocate(const recording::RecordedAllocation& allocation) {
  settle();
  const Key key{allocation.devices, allocation.number};
  (void)free(allocation.devices, allocation.number, allocation.begin_ns);
  live_[key] = writer_.begin(allocation);
  ++allocations_;
}

bool EventWriter::free(RowId devices, std::uint64_t number, Time time) {
  settle();
  const auto found = live_.find({devices, number});
  if (found == live_.end()) return false;
  writer_.end_allocation(found->second, time, Ending::freed);
  live_.erase(found);
  return true;
}

void EventWriter::lay_out(const recording::RecordedProgram& program, Time time) {
  const Key key{program.device, program.number};
  const auto [at, is_new] = placed_.try_emplace(key);
  if (is_new) {
    at->second.program = program;
    at->second.program.id = 0;
    ++programs_;
  }
  at->second.layout.clear();
  change(key, at->second, time);
}

void EventWriter::add_cb(RowId device, std::uint64_t program, const recording::RecordedCb& cb,
                         Time time) {
  const Key key{device, program};
  const auto found = placed_.find(key);
  if (found == placed_.end()) return;
  found->second.layout.push_back(cb);
  change(key, found->second, time);
}

void EventWriter::change(const Key& key, Placed& placed, Time time) {
  if (!placed.is_changed) changed_.push_back(key);
  placed.is_changed = true;
  changed_at_ = time;
}

void EventWriter::end_program(RowId device, std::uint64_t program, Time time) {
  settle();
  const auto found = placed_.find({device, program});
  if (found == placed_.end()) return;
  writer_.end_program(found->second.program.id, time, Ending::freed);
  placed_.erase(found);
}

void EventWriter::settle() {
  for (const Key& key : changed_) {
    Placed& placed = placed_[key];
    if (placed.program.id != 0) {
      writer_.end_program(placed.program.id, changed_at_, Ending::changed);
    }
    placed.program.layout = writer_.layout(placed.layout);
    placed.program.begin_ns = changed_at_;
    placed.program.id = writer_.begin(placed.program);
    placed.is_changed = false;
  }
  changed_.clear();
}

}  // namespace ttmem::imports
