// SPDX-License-Identifier: Apache-2.0
#include "show/exports/left_at_end.hpp"

#include <algorithm>
#include <limits>

namespace ttmem::exports {

using recording::EndOnDevice;
using recording::RowId;
using recording::Time;

LeftAtEnd::LeftAtEnd(const recording::Tables& tables, const Selection& selection)
    : tables_(tables), is_last_(tables.devices.size()) {
  const auto end_of = [&](RowId device) {
    return tables.device(device).end_ns.value_or(std::numeric_limits<Time>::max());
  };
  for (const ExportedChip& chip : selection.chips()) {
    Time last = std::numeric_limits<Time>::min();
    for (const RowId device : chip.devices) last = std::max(last, end_of(device));
    for (const RowId device : chip.devices) {
      is_last_[static_cast<std::size_t>(device - 1)] = end_of(device) == last;
    }
  }
}

bool LeftAtEnd::has(RowId device, const EndOnDevice& end) const {
  const std::optional<Time> closed = tables_.device(device).end_ns;
  return recording::was_left(end.ending) && closed && end.end_ns >= closed &&
         is_last_[static_cast<std::size_t>(device - 1)];
}

EndOnDevice LeftAtEnd::end_on(const recording::RecordedAllocation& allocation, RowId device) const {
  const EndOnDevice end = recording::end_on(tables_, allocation, device);
  return has(device, end) ? EndOnDevice{} : end;
}

}  // namespace ttmem::exports
