// SPDX-License-Identifier: Apache-2.0
//
// What is left in the banks of a device, and in what pieces. Pure functions.
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

// Addresses [begin, end) of every bank.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  friend bool operator==(const Range&, const Range&) = default;
};

// Sorts the ranges, removes empty ones, and joins those that touch or overlap.
void join(std::vector<Range>& ranges);

// The ranges that are taken of DRAM, L1, L1_SMALL and trace; none: not all of them are known.
using Taken = PerKind<std::optional<std::vector<Range>>>;

// What the buffers of one process take on one device, each kind as join() leaves it. A range that a
// buffer takes in some banks only is taken: the allocator of the whole device needs it in all.
// `all_listed` is false when there are more buffers than `buffers`.
[[nodiscard]] Taken taken_by(std::span<const segment::LiveAllocation* const> buffers,
                             bool all_listed);

// Where the runtime's allocator places buffers of one kind, and in what steps.
struct BankRegion {
  Range range;
  std::uint64_t step = 1;
};

// What the memory of a device is known to be; 0 is unknown. A trace or L1_SMALL region of 0 bytes
// is none.
struct BankFacts {
  std::uint64_t l1_bytes_per_core = 0;
  std::uint64_t l1_base = 0;
  std::uint64_t l1_small_bytes_per_core = 0;
  std::uint64_t dram_channels = 0;
  std::uint64_t dram_bytes_per_channel = 0;
  std::uint64_t trace_region_bytes = 0;  // of all channels

  friend bool operator==(const BankFacts&, const BankFacts&) = default;
};
[[nodiscard]] BankFacts bank_facts(const segment::DeviceImage& device);

// The regions of DRAM, L1, L1_SMALL and trace. None where a fact is unknown, where there is no such
// region, and for an architecture whose allocator is not known here.
//
// Nobody reports where DRAM buffers begin, nor the steps: they are what the runtime has for the
// architecture. A buffer outside of these regions shows that it has something else; free_space()
// then says nothing.
[[nodiscard]] PerKind<std::optional<BankRegion>> regions_of(std::string_view arch,
                                                            const BankFacts& facts);

// What is free of each region. Unknown where the region or what is taken of it is, and where a
// buffer lies outside of its region.
//
// Example, region [100, 200) in steps of 10, taken [100, 115) and [150, 160): 30 + 40 bytes are
// free, the largest block has 40.
[[nodiscard]] PerKind<model::FreeSpace> free_space(
    const PerKind<std::optional<BankRegion>>& regions, const Taken& taken);

}  // namespace ttmem::collector
