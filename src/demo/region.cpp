// SPDX-License-Identifier: Apache-2.0
#include "demo/region.hpp"

namespace ttmem::demo {

Region::Region(std::uint64_t begin, std::uint64_t end, std::uint64_t alignment, From from)
    : begin_(begin), end_(end), alignment_(alignment), from_(from) {}

std::optional<std::uint64_t> Region::allocate(std::uint64_t bytes) {
  if (bytes > end_ - begin_) return std::nullopt;
  const std::uint64_t aligned = (bytes + alignment_ - 1) & ~(alignment_ - 1);
  const std::uint64_t address = from_ == From::bottom ? lowest_fit(aligned) : highest_fit(aligned);
  if (address < begin_ || address + aligned > end_) return std::nullopt;
  taken_.emplace(address, aligned);
  return address;
}

void Region::release(std::uint64_t address) { taken_.erase(address); }

// Both give an address outside the region when no gap is large enough.
std::uint64_t Region::lowest_fit(std::uint64_t bytes) const {
  std::uint64_t gap = begin_;
  for (const auto& [address, length] : taken_) {
    if (gap + bytes <= address) break;
    gap = address + length;
  }
  return gap;
}

std::uint64_t Region::highest_fit(std::uint64_t bytes) const {
  std::uint64_t gap_end = end_;
  for (auto block = taken_.rbegin(); block != taken_.rend(); ++block) {
    if (block->first + block->second + bytes <= gap_end) break;
    gap_end = block->first;
  }
  return gap_end < bytes ? 0 : gap_end - bytes;
}

}  // namespace ttmem::demo
