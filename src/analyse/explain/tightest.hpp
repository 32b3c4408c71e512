// SPDX-License-Identifier: Apache-2.0
//
// Finds out what would fail first: the kind whose largest free block is the smallest share of its
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
// Returns nullopt if it is unknown for every kind what is held. `memory` must outlive the result.
[[nodiscard]] std::optional<Tightness> tightest(const DeviceMemory& memory);

// Returns the share of that kind, for the choice among devices; 1 if nothing is known. Looks at the
// buffers only if the collector has not computed the free blocks, because a mesh has many buffers.
[[nodiscard]] double room_of(const model::Snapshot& state, const MemoryRef& ref);

// Returns the largest free block as computed by the collector, or nullopt unless one living process
// has the device for itself. An outline is enough.
[[nodiscard]] Bytes collected_largest_free(const DeviceMemory& memory, Kind kind);

}  // namespace ttmem::explain
