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
  std::vector<CoreRange> cores;                 // no two ranges share a core
  std::uint64_t bytes = 0;                      // on each core
  std::optional<std::uint64_t> global_address;  // only for a CB in an L1 buffer; not stacked
};

// The end of the highest circular buffer on one core range; 0 if none was placed there.
struct CbStack {
  CoreRange range;
  std::uint64_t end = 0;
};

// The places of the circular buffers of a program, which are the same on every chip.
struct StackedCbs {
  std::vector<std::uint64_t> addresses;  // in the order of the declarations
  std::vector<CbStack> stacks;           // one for each distinct core range, in order of appearance
};

// Stacks circular buffers upwards from `base`, in the order of their declaration. Each circular
// buffer begins at the highest end of its own core ranges, aligned. The end of the circular buffer
// then becomes the new end of each core range that shares a core with it, unless that core range
// already ends above the begin of the circular buffer.
// Example, base 1000, alignment 10: 100 bytes on cores 0 to 3 go to address 1000, 50 bytes on cores
// 2 to 5 go to 1100, 20 bytes on core 6 go to 1000.
// This is TT-Metal's rule, including its flaw. Suppose that circular buffers A and B have the same
// address, both share cores with range R, and B is larger. A raises the end of R. B does not,
// because R already ends above the begin of B. A later circular buffer on R can then overlap B.
[[nodiscard]] StackedCbs stack_circular_buffers(std::span<const DeclaredCb> declared,
                                                std::uint64_t base, std::uint32_t alignment);

}  // namespace ttmem::placement
