// SPDX-License-Identifier: Apache-2.0
// Computes the free space and the largest free block in the banks of a device. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/kinds.hpp"
#include "read/model/snapshot.hpp"
#include "segment/reader/segment_image.hpp"

namespace ttmem::collector {

// The addresses [begin, end) in every bank.
struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

// Sorts the ranges, removes empty ranges, and joins ranges that touch or overlap.
void join(std::vector<AddressRange>& ranges);

// The taken ranges of DRAM, L1, L1_SMALL and trace; nullopt if some of them are unknown.
using Taken = PerKind<std::optional<std::vector<AddressRange>>>;

// Returns the ranges that the buffers of one process take on one device, joined by join(). A range
// that a buffer takes only in some banks counts as taken in all banks, because the device's
// allocator needs the same free range in every bank. `all_listed` is false if `buffers` lacks some
// buffers.
[[nodiscard]] Taken taken_by(std::span<const segment::LiveAllocation* const> buffers,
                             bool all_listed);

// The region in which the runtime's allocator places buffers of one kind, and the alignment of the
// buffers.
struct BankRegion {
  AddressRange range;
  std::uint64_t step = 1;
};

// The memory sizes of a device. For the trace region and the L1_SMALL region, 0 means that the
// device has no such region. For all other sizes, 0 means unknown.
struct BankFacts {
  std::uint64_t l1_bytes_per_core = 0;
  std::uint64_t l1_base = 0;
  std::uint64_t l1_small_bytes_per_core = 0;
  std::uint64_t dram_channels = 0;
  std::uint64_t dram_bytes_per_channel = 0;
  std::uint64_t trace_region_bytes = 0;  // over all channels

  friend bool operator==(const BankFacts&, const BankFacts&) = default;
};
// Returns the sizes that a process states. `device` is from the segment of the process or from a
// recording.
template <typename Device>
[[nodiscard]] BankFacts bank_facts(const Device& device) {
  return {.l1_bytes_per_core = device.l1_bytes_per_core,
          .l1_base = device.l1_base,
          .l1_small_bytes_per_core = device.l1_small_bytes_per_core,
          .dram_channels = device.dram_channels,
          .dram_bytes_per_channel = device.dram_bytes_per_channel,
          .trace_region_bytes = device.trace_region_bytes};
}

// Returns the regions of DRAM, L1, L1_SMALL and trace. A region is nullopt if one of its sizes is
// unknown, if the device has no such region, or if the architecture is unknown.
// Processes do not report the begin of DRAM buffers and the alignment, so both are the runtime's
// values for the architecture. A buffer outside its region shows that the runtime uses other
// values. free_space() then returns unknown.
[[nodiscard]] PerKind<std::optional<BankRegion>> regions_of(std::string_view arch,
                                                            const BankFacts& facts);

// Returns the free space of each region. Unknown if the region or its taken ranges are unknown, or
// if a buffer lies outside the region. The free space of DRAM is also unknown if trace buffers may
// exist but their region is unknown. Likewise, the free space of L1 is unknown if L1_SMALL buffers
// may exist but their region is unknown.
// Example: region [100, 200) in steps of 10, taken [100, 115) and [150, 160): 30 + 40 bytes are
// free, and the largest block has 40 bytes.
[[nodiscard]] PerKind<model::FreeSpace> free_space(
    const PerKind<std::optional<BankRegion>>& regions, const Taken& taken);

}  // namespace ttmem::collector
