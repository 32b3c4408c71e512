// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "read/collector/evidence.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::collector {

// Builds a Snapshot from evidence. Uses no I/O and no clock. The order of the evidence does not
// matter.
//
// - The figures of a device are sums over its living processes; dead processes are only listed.
// - A row of TT-Metal's region is ignored if its process has a segment that reports the same
//   device, because the segment is more exact. Row and segment belong to the same process if they
//   have the same pid and /proc confirms the segment's pid. If the pid is of another pid namespace,
//   the names must be equal too.
// - A process that reports only the number of a device is assigned to the only chip with that
//   number, and is marked (supposed_device). If no chip or several chips have the number, the
//   process gets a device of its own.
// - A chip that the kernel driver shows is the device that ChipMatch finds, or a device of its own.
//   The chip is idle, with nothing in use, if no process that may hold memory has it open.
// - A process that has a chip open and reports nothing is listed without figures. If the process
//   may hold memory, the figures of the device are lower limits.
// - The segment of a process that exited cleanly holds nothing and is left out.
[[nodiscard]] model::Snapshot build_snapshot(const Evidence& evidence);

// Like build_snapshot(), but without the lists of allocations, programs and left_at_close, and
// without the warnings about these lists. For callers that need only sums.
[[nodiscard]] model::Snapshot build_figures(const Evidence& evidence);

// Sets the temperature, power and clock of all devices of a Snapshot from the driver's sensors.
void set_sensors(const driver::Driver& driver, model::Snapshot& snapshot);

}  // namespace ttmem::collector
