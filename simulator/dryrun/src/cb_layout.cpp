// SPDX-License-Identifier: Apache-2.0
#include "cb_layout.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "read/placement/cb_stacking.hpp"

namespace tt::tt_metal::dryrun {
namespace {

ttmem::CoreRange plain(const CoreRange& range) {
  return {static_cast<std::uint32_t>(range.start_coord.x),
          static_cast<std::uint32_t>(range.start_coord.y),
          static_cast<std::uint32_t>(range.end_coord.x),
          static_cast<std::uint32_t>(range.end_coord.y)};
}

CoreRange core_range(const ttmem::CoreRange& range) {
  return {{range.x0, range.y0}, {range.x1, range.y1}};
}

ttmem::placement::DeclaredCb declared(const CircularBufferImpl& buffer) {
  ttmem::placement::DeclaredCb cb{.cores = {}, .bytes = buffer.size(), .global_address = {}};
  for (const CoreRange& range : buffer.core_ranges().ranges()) cb.cores.push_back(plain(range));
  if (buffer.globally_allocated()) cb.global_address = buffer.global_address();
  return cb;
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
  std::vector<ttmem::placement::DeclaredCb> all;
  for (const auto& buffer : buffers) all.push_back(declared(*buffer));
  const auto stacked = ttmem::placement::stack_circular_buffers(all, base, alignment);
  CbLayout layout;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const CircularBufferImpl& buffer = *buffers[i];
    layout.cbs.push_back(
        {buffer.core_ranges(), stacked.addresses[i], buffer.size(), buffer.globally_allocated()});
  }
  for (const auto& [range, end] : stacked.stacks) layout.stacks.push_back({core_range(range), end});
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
