// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collector/evidence.hpp"
#include "model/snapshot.hpp"

namespace ttmem::collector {

// Puts what was found together: no I/O, no clock. Equal evidence gives an equal Snapshot, whatever
// order it came in.
//
// - Figures of a device are sums over its living processes; what dead ones held is only listed.
// - A row of TT-Metal's region counts unless a living segment tells of the same process on the
//   same device, which is more exact, and /proc confirms that it is of that process.
// - A segment that ended by saying so holds nothing, and is left out.
[[nodiscard]] model::Snapshot build_snapshot(const Evidence& evidence);

// The same without its allocations and programs, and without the warnings that are about those
// lists. For whoever wants sums.
[[nodiscard]] model::Snapshot build_figures(const Evidence& evidence);

}  // namespace ttmem::collector
