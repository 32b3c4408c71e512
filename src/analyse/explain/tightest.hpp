// SPDX-License-Identifier: Apache-2.0
//
// Finds the kind that would fail first: the kind whose largest free block is the smallest share of
// the kind's region. Pure.
#pragma once

#include <optional>

#include "analyse/explain/bank.hpp"
#include "analyse/explain/device_memory.hpp"

namespace ttmem::explain {

struct Tightness {
  Kind kind = Kind::dram;
  Bank bank;
};
// Returns the tightest kind, or nullopt if the held buffers of every kind are unknown. `memory`
// must outlive the result.
[[nodiscard]] std::optional<Tightness> tightest(const DeviceMemory& memory);

// Returns the largest free block of the tightest kind as a share of its region; 1 if nothing is
// known. The share serves to compare devices. Looks at the buffers only if the collector has not
// computed the free blocks, because a mesh has many buffers.
[[nodiscard]] double room_of(const model::Snapshot& state, const MemoryRef& ref);

// Returns the largest free block that the collector computed for the whole device, if the device
// has exactly one process and this process is alive. Otherwise returns nullopt. `memory` may be a
// result of outline().
[[nodiscard]] Bytes collected_largest_free(const DeviceMemory& memory, Kind kind);

}  // namespace ttmem::explain
