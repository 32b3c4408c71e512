// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <tt-metalium/core_coord.hpp>
#include <vector>

#include "impl/buffers/circular_buffer.hpp"

namespace tt::tt_metal::dryrun {

struct PlacedCb {
  CoreRangeSet cores;
  std::uint64_t address;
  std::uint64_t size;  // per core
  bool globally_allocated;
};

// What the circular buffers on one core range reach up to; 0 when none was placed there.
struct CbStack {
  CoreRange range;
  std::uint64_t end;
};

// Where the circular buffers of a program lie: the same on every chip. Never changes; a program
// whose circular buffers change gets a new one.
struct CbLayout {
  std::vector<PlacedCb> cbs;    // in the order of their declaration
  std::vector<CbStack> stacks;  // for each different core range, in the order of appearance
};

// As placement/cb_stacking.hpp has it.
CbLayout stack_circular_buffers(const std::vector<std::shared_ptr<CircularBufferImpl>>& buffers,
                                std::uint64_t base, std::uint32_t alignment);

// Per core, the union of the address ranges of all layouts, summed over the cores. Globally
// allocated circular buffers do not count: they lie in L1 buffers.
std::uint64_t physical_bytes(const std::vector<std::shared_ptr<const CbLayout>>& layouts);

}  // namespace tt::tt_metal::dryrun
