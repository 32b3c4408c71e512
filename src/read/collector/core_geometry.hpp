// SPDX-License-Identifier: Apache-2.0
//
// Where buffers and CBs lie on the cores of a device. Pure functions.
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

// A sum with an unknown part is unknown.
constexpr void add_to(model::Bytes& sum, model::Bytes part) {
  sum = sum && part ? model::Bytes(saturating_add(*sum, *part)) : std::nullopt;
}

// The L1 of one core, as far as it is known. L1 buffers only: L1_SMALL has its own region.
struct CoreState {
  std::uint64_t cb_bytes = 0;
  std::uint64_t cb_resident_bytes = 0;
  std::uint64_t cb_end = 0;                // 0: no CB there
  model::Bytes l1_bytes = 0;               // unknown when one buffer's bytes per bank are
  model::Bytes l1_data_bytes = 0;          // of those, of buffers with bytes on this core
  std::optional<std::uint64_t> lowest_l1;  // address of the lowest buffer; none: no buffer
  bool lowest_known = true;                // false: there are buffers that were not listed

  friend bool operator==(const CoreState&, const CoreState&) = default;
};

// What bounds the region that CBs and L1 buffers share; 0 is unknown.
struct L1Limits {
  std::uint64_t l1_bytes_per_core = 0;
  std::uint64_t l1_base = 0;
  std::uint64_t l1_small_bytes_per_core = 0;
};

// One process on one device: a state for each core of its grid, row by row. A buffer counts on
// every core, unless its allocator covers only some. `allocations` are
// those on this device; `all_listed` is false when there were more than could be listed.
[[nodiscard]] std::vector<CoreState> core_states(const segment::DeviceImage& device,
                                                 AllocationRefs allocations, bool all_listed);

// What the buffers of one process on one device take on cores that hold none of their bytes, of l1
// and l1_small. Unknown when `all_listed` is false or a buffer's size or banks are unknown.
//
// Example: 819,200 bytes on one core of 64 take 51,609,600 on the other 63.
[[nodiscard]] PerKind<model::Bytes> lockstep_bytes(AllocationRefs allocations, bool all_listed);

// How many live buffers begin at or inside another one of the same type on the same bank.
// `allocations` are of one process on one device. A buffer of unknown size is taken for one byte.
[[nodiscard]] std::uint64_t count_overlaps(AllocationRefs allocations);

// One process on one device.
struct DeviceGeometry {
  std::vector<CoreState> cores;  // as core_states() gives them
  PerKind<model::Bytes> lockstep_bytes{};
  std::uint64_t overlaps = 0;
  Taken taken{};
};

// One for each device of the image.
[[nodiscard]] std::vector<DeviceGeometry> geometry_of(const segment::SegmentImage& image);

// Two processes on one core: bytes add up, the lowest buffer and the highest CB count.
void merge_core(CoreState& into, const CoreState& other);

// From the end of the CBs (or where the first would go) up to the lowest L1 buffer (or where L1
// buffers begin). Negative when they clash. None when a limit is unknown.
//
// With lockstep, that buffer may have its bytes on other cores.
//
// Example (Wormhole): CBs end at 134,336, the lowest buffer is at 974,336: 840,000 bytes are left.
[[nodiscard]] std::optional<std::int64_t> headroom(const CoreState& core, const L1Limits& limits);

}  // namespace ttmem::collector
