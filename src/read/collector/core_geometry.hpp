// SPDX-License-Identifier: Apache-2.0
// Computes where buffers and CBs lie on the cores of a device. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/saturating.hpp"
#include "read/collector/free_space.hpp"
#include "read/model/snapshot.hpp"
#include "segment/reader/segment_image.hpp"

namespace ttmem::collector {

using AllocationRefs = std::span<const segment::LiveAllocation* const>;

// Adds `part` to `sum`. A sum with an unknown part is unknown.
constexpr void add_to(model::Bytes& sum, model::Bytes part) {
  sum = sum && part ? model::Bytes(saturating_add(*sum, *part)) : std::nullopt;
}

// The known figures of the L1 of one core. Counts L1 buffers, but not L1_SMALL, which has its own
// region.
struct CoreState {
  std::uint64_t cb_bytes = 0;
  std::uint64_t cb_resident_bytes = 0;
  std::uint64_t cb_end = 0;                // 0 if the core has no CB
  model::Bytes l1_bytes = 0;               // unknown if any buffer's bytes per bank are unknown
  model::Bytes l1_data_bytes = 0;          // the part of l1_bytes in buffers with data on this core
  std::optional<std::uint64_t> lowest_l1;  // address of the lowest buffer; nullopt without buffers
  bool lowest_known = true;                // false if some buffers are not listed

  friend bool operator==(const CoreState&, const CoreState&) = default;
};

// The limits of the region that CBs and L1 buffers share; 0 means unknown.
struct L1Limits {
  std::uint64_t l1_bytes_per_core = 0;
  std::uint64_t l1_base = 0;
  std::uint64_t l1_small_bytes_per_core = 0;
};

// Returns how much L1 of each core of a device one process uses, row by row. A buffer counts on
// every core, unless the buffer's allocator covers only some cores. `allocations` are the
// allocations on this device. `all_listed` is false if `allocations` lacks some of them.
[[nodiscard]] std::vector<CoreState> core_states(const segment::DeviceImage& device,
                                                 AllocationRefs allocations, bool all_listed);

// Returns the bytes that the l1 and l1_small buffers of one process on one device take on cores
// without data of the buffer. Unknown if `all_listed` is false, or if the size or the banks of a
// buffer are unknown.
// Example: a buffer of 819,200 bytes on one core of 64 takes 51,609,600 bytes on the other 63
// cores.
[[nodiscard]] PerKind<model::Bytes> lockstep_bytes(AllocationRefs allocations, bool all_listed);

// Returns the number of live buffers whose first byte lies in another buffer of the same kind in
// the same bank. If two buffers begin at the same address, only one of them counts. `allocations`
// are the allocations of one process on one device. A buffer of unknown size counts as one byte.
[[nodiscard]] std::uint64_t count_overlaps(AllocationRefs allocations);

// The geometry of one process on one device.
struct DeviceGeometry {
  std::vector<CoreState> cores;  // from core_states()
  PerKind<model::Bytes> lockstep_bytes{};
  std::uint64_t overlaps = 0;
  Taken taken{};
};

// Returns the geometry of each device of the image.
[[nodiscard]] std::vector<DeviceGeometry> geometry_of(const segment::SegmentImage& image);

// Merges the states of one core in two processes: adds up the bytes, and keeps the lowest buffer
// and the highest end of CBs.
void merge_core(CoreState& into, const CoreState& other);

// Returns the number of bytes from the end of the CBs up to the lowest L1 buffer. On a core without
// CBs, the bytes count from `l1_base`. On a core without L1 buffers, the bytes count up to the top
// of the L1 buffers' region. Negative if CBs and L1 buffers clash. nullopt if `l1_bytes_per_core`
// or `l1_base` is unknown, or if some buffers are not listed.
// With lockstep, the data of the lowest buffer may be on other cores.
// Example (Wormhole): CBs end at 134,336 and the lowest buffer is at 974,336: 840,000 bytes.
[[nodiscard]] std::optional<std::int64_t> headroom(const CoreState& core, const L1Limits& limits);

}  // namespace ttmem::collector
