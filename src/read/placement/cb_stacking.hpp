// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/core_range.hpp"

namespace ttmem::placement {

// A circular buffer as a program declares it.
struct DeclaredCb {
  std::vector<CoreRange> cores;                 // no two share a core
  std::uint64_t bytes = 0;                      // on each core
  std::optional<std::uint64_t> global_address;  // of one in an L1 buffer: it is not stacked
};

// What the circular buffers on one core range reach up to; 0 when none was placed there.
struct CbStack {
  CoreRange range;
  std::uint64_t end = 0;
};

// Where the circular buffers of a program lie: the same on every chip.
struct StackedCbs {
  std::vector<std::uint64_t> addresses;  // in the order of the declarations
  std::vector<CbStack> stacks;  // for each different core range, in the order of appearance
};

// Stacks circular buffers upwards from `base`, in the order of their declaration. A circular buffer
// goes to the highest end of its own core ranges, aligned, and raises every range that shares a
// core with them and does not reach higher already.
//
// Example, base 1000, alignment 10: 100 bytes on cores 0 to 3 go to 1000, 50 on cores 2 to 5 to
// 1100, 20 on core 6 to 1000.
//
// This is TT-Metal's rule with its flaw: a range that was raised by one neighbour is not raised by
// a larger circular buffer of another at the same address, and can then get memory of the latter.
[[nodiscard]] StackedCbs stack_circular_buffers(std::span<const DeclaredCb> declared,
                                                std::uint64_t base, std::uint32_t alignment);

}  // namespace ttmem::placement
