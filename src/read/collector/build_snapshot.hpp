// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "read/collector/evidence.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::collector {

// Builds a Snapshot of evidence: no I/O, no clock. Equal evidence in any order gives an equal
// Snapshot.
//
// - Figures of a device are sums over its living processes; what dead ones held is only listed.
// - A row of TT-Metal's region counts unless the same process has a living segment with the same
//   device: the segment is more exact. It is the same if /proc confirms that the segment is that
//   process's own, or, for a pid of another pid namespace, if the name is the same too.
// - A process that gives only the number of a device has the only chip with that number, and is
//   marked so. If there are none or several, it has a device of its own.
// - A chip that the kernel driver shows is the device that ChipMatch says, else one of its own. One
//   that nobody who may hold memory has open is idle: nothing is in use.
// - A process that has a chip open and reports nothing is listed without figures, and those of the
//   device are "at least".
// - A segment with a clean exit holds nothing, and is left out.
[[nodiscard]] model::Snapshot build_snapshot(const Evidence& evidence);

// The same without allocations and programs, and without the warnings about those lists. For
// callers that need sums only.
[[nodiscard]] model::Snapshot build_figures(const Evidence& evidence);

// Gives the devices of a Snapshot the temperature, power and clock of this moment.
void set_sensors(const driver::Driver& driver, model::Snapshot& snapshot);

}  // namespace ttmem::collector
