// SPDX-License-Identifier: Apache-2.0
#include "cb_layout.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "align.hpp"

namespace tt::tt_metal::dryrun {
namespace {

std::vector<CbStack> empty_stacks(const std::vector<std::shared_ptr<CircularBufferImpl>>& buffers) {
  std::vector<CbStack> stacks;
  for (const auto& buffer : buffers) {
    for (const CoreRange& range : buffer->core_ranges().ranges()) {
      const bool known = std::any_of(stacks.begin(), stacks.end(),
                                     [&](const CbStack& stack) { return stack.range == range; });
      if (!known) stacks.push_back({range, 0});
    }
  }
  return stacks;
}

std::uint64_t next_address(const std::vector<CbStack>& stacks, const CoreRangeSet& cores,
                           std::uint64_t base, std::uint32_t alignment) {
  std::uint64_t address = base;
  for (const CbStack& stack : stacks) {
    const auto& own = cores.ranges();
    if (std::find(own.begin(), own.end(), stack.range) != own.end()) {
      address = std::max(address, stack.end);
    }
  }
  return align_up(address, alignment);
}

void raise(std::vector<CbStack>& stacks, const CoreRangeSet& cores, std::uint64_t address,
           std::uint64_t size) {
  for (CbStack& stack : stacks) {
    // A range that only shares some cores may reach higher already, because of circular buffers on
    // its other cores.
    if (cores.intersects(stack.range) && address >= stack.end) stack.end = address + size;
  }
}

std::uint64_t union_bytes(std::vector<std::pair<std::uint64_t, std::uint64_t>>& intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::uint64_t bytes = 0;
  std::uint64_t covered = 0;
  for (const auto& [start, end] : intervals) {
    if (end <= covered) continue;
    bytes += end - std::max(start, covered);
    covered = end;
  }
  return bytes;
}

}  // namespace

CbLayout stack_circular_buffers(const std::vector<std::shared_ptr<CircularBufferImpl>>& buffers,
                                std::uint64_t base, std::uint32_t alignment) {
  CbLayout layout{.cbs = {}, .stacks = empty_stacks(buffers)};
  for (const auto& buffer : buffers) {
    const bool global = buffer->globally_allocated();
    const std::uint64_t address =
        global ? buffer->global_address()
               : next_address(layout.stacks, buffer->core_ranges(), base, alignment);
    if (!global) raise(layout.stacks, buffer->core_ranges(), address, buffer->size());
    layout.cbs.push_back({buffer->core_ranges(), address, buffer->size(), global});
  }
  return layout;
}

std::uint64_t physical_bytes(const std::vector<std::shared_ptr<const CbLayout>>& layouts) {
  std::map<CoreCoord, std::vector<std::pair<std::uint64_t, std::uint64_t>>> intervals;
  for (const auto& layout : layouts) {
    for (const PlacedCb& cb : layout->cbs) {
      if (cb.globally_allocated) continue;
      for (const CoreRange& range : cb.cores.ranges()) {
        for (const CoreCoord& core : range) {
          intervals[core].emplace_back(cb.address, cb.address + cb.size);
        }
      }
    }
  }
  std::uint64_t bytes = 0;
  for (auto& [core, of_core] : intervals) bytes += union_bytes(of_core);
  return bytes;
}

}  // namespace tt::tt_metal::dryrun
