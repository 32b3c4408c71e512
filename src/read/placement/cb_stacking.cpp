// SPDX-License-Identifier: Apache-2.0
#include "read/placement/cb_stacking.hpp"

#include <algorithm>

#include "read/placement/align.hpp"

namespace ttmem::placement {
namespace {

bool intersect(const CoreRange& a, const CoreRange& b) {
  return a.x0 <= b.x1 && b.x0 <= a.x1 && a.y0 <= b.y1 && b.y0 <= a.y1;
}

std::vector<CbStack> empty_stacks(std::span<const DeclaredCb> declared) {
  std::vector<CbStack> stacks;
  for (const DeclaredCb& cb : declared) {
    for (const CoreRange& range : cb.cores) {
      const bool known = std::any_of(stacks.begin(), stacks.end(),
                                     [&](const CbStack& stack) { return stack.range == range; });
      if (!known) stacks.push_back({range, 0});
    }
  }
  return stacks;
}

std::uint64_t next_address(const std::vector<CbStack>& stacks, const std::vector<CoreRange>& cores,
                           std::uint64_t base, std::uint32_t alignment) {
  std::uint64_t address = base;
  for (const CbStack& stack : stacks) {
    if (std::find(cores.begin(), cores.end(), stack.range) != cores.end()) {
      address = std::max(address, stack.end);
    }
  }
  return align_up(address, alignment);
}

void raise(std::vector<CbStack>& stacks, const std::vector<CoreRange>& cores, std::uint64_t address,
           std::uint64_t bytes) {
  for (CbStack& stack : stacks) {
    const bool shares_cores = std::any_of(cores.begin(), cores.end(), [&](const CoreRange& own) {
      return intersect(own, stack.range);
    });
    // The end of a range is never lowered. A range that shares only some cores may already end
    // higher, because of circular buffers on its other cores.
    if (shares_cores && address >= stack.end) stack.end = address + bytes;
  }
}

}  // namespace

StackedCbs stack_circular_buffers(std::span<const DeclaredCb> declared, std::uint64_t base,
                                  std::uint32_t alignment) {
  StackedCbs stacked{.addresses = {}, .stacks = empty_stacks(declared)};
  for (const DeclaredCb& cb : declared) {
    const std::uint64_t address = cb.global_address
                                      ? *cb.global_address
                                      : next_address(stacked.stacks, cb.cores, base, alignment);
    if (!cb.global_address) raise(stacked.stacks, cb.cores, address, cb.bytes);
    stacked.addresses.push_back(address);
  }
  return stacked;
}

}  // namespace ttmem::placement
