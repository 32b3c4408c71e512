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

// The end address of the circular buffers on one core range. `end` is 0 if the core range has no
// circular buffers.
struct CbStack {
  CoreRange range;
  std::uint64_t end;
};

// The addresses of the circular buffers of a program. They are the same on every chip. A layout is
// immutable: if the circular buffers change, the program gets a new layout.
struct CbLayout {
  std::vector<PlacedCb> cbs;    // in the order of their declaration
  std::vector<CbStack> stacks;  // one for each distinct core range, in the order of first use
};

// Stacks circular buffers by the rules of read/placement/cb_stacking.hpp.
CbLayout stack_circular_buffers(const std::vector<std::shared_ptr<CircularBufferImpl>>& buffers,
                                std::uint64_t base, std::uint32_t alignment);

// Returns the L1 that the layouts take together. On each core, bytes that several layouts use count
// once; the sums of all cores are added. Globally allocated circular buffers do not count, because
// they lie in L1 buffers.
std::uint64_t physical_bytes(const std::vector<std::shared_ptr<const CbLayout>>& layouts);

}  // namespace tt::tt_metal::dryrun
