// SPDX-License-Identifier: Apache-2.0
//
// What would fail first: the kind of which the largest free block is the smallest share of its
// region. Pure.
#pragma once

#include <optional>

#include "analyse/explain/bank.hpp"
#include "analyse/explain/device_memory.hpp"

namespace ttmem::explain {

struct Tightness {
  Kind kind = Kind::dram;
  Bank bank;
};
// None: of no kind is it known what is held. `memory` must outlive it.
[[nodiscard]] std::optional<Tightness> tightest(const DeviceMemory& memory);

// That share, for the choice among devices; 1 when nothing is known. Looks at buffers only where
// the collector has not: a mesh has many.
[[nodiscard]] double room_of(const model::Snapshot& state, const MemoryRef& ref);

// The largest free block that the collector has worked out, of a device that one living process has
// for itself. An outline is enough.
[[nodiscard]] Bytes collected_largest_free(const DeviceMemory& memory, Kind kind);

}  // namespace ttmem::explain
