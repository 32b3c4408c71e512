// SPDX-License-Identifier: Apache-2.0
#include "placement/free_list.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "placement/align.hpp"

namespace ttmem::placement {

FreeList::FreeList(std::uint64_t base, std::uint64_t size, std::uint32_t alignment)
    : base_(base), size_(size), alignment_(alignment) {
  if (size > 0) free_.emplace(base, size);
}

std::uint64_t FreeList::rounded(std::uint64_t bytes) const {
  return align_up(std::max<std::uint64_t>(bytes, 1), alignment_);
}

std::optional<std::uint64_t> FreeList::allocate(std::uint64_t bytes, bool bottom_up) {
  if (bytes > size_) return std::nullopt;  // rounded up it might be 0
  const std::uint64_t needed = rounded(bytes);
  const auto fits = [needed](const auto& block) { return block.second >= needed; };
  if (bottom_up) {
    const auto block = std::find_if(free_.begin(), free_.end(), fits);
    if (block == free_.end()) return std::nullopt;
    const std::uint64_t address = block->first;
    take(block, address, needed);
    return address;
  }
  const auto block = std::find_if(free_.rbegin(), free_.rend(), fits);
  if (block == free_.rend()) return std::nullopt;
  const std::uint64_t address = block->first + block->second - needed;
  take(std::prev(block.base()), address, needed);
  return address;
}

bool FreeList::occupy(std::uint64_t address, std::uint64_t bytes) {
  if (bytes > size_) return false;
  const std::uint64_t needed = rounded(bytes);
  auto block = free_.upper_bound(address);
  if (block == free_.begin()) return false;
  --block;
  const std::uint64_t offset = address - block->first;
  if (offset > block->second || block->second - offset < needed) return false;
  take(block, address, needed);
  return true;
}

// `bytes` at `address` lie within the free block.
void FreeList::take(Blocks::iterator block, std::uint64_t address, std::uint64_t bytes) {
  const auto [begin, size] = *block;
  const std::uint64_t end = begin + size;
  free_.erase(block);
  if (begin < address) free_.emplace(begin, address - begin);
  if (address + bytes < end) free_.emplace(address + bytes, end - (address + bytes));
  allocated_.emplace(address, bytes);
  allocated_bytes_ += bytes;
}

void FreeList::deallocate(std::uint64_t address) {
  const auto found = allocated_.find(address);
  if (found == allocated_.end()) return;
  const std::uint64_t bytes = found->second;
  allocated_.erase(found);
  allocated_bytes_ -= bytes;
  add_free(address, bytes);
}

void FreeList::reserve_below(std::uint64_t bytes) {
  if (reserved_ > 0) add_free(base_, std::exchange(reserved_, 0));
  if (bytes == 0) return;
  // Nothing is allocated there, so that it is one free block.
  const auto lowest = free_.begin();
  const auto [address, size] = *lowest;
  free_.erase(lowest);
  if (size > bytes) free_.emplace(address + bytes, size - bytes);
  reserved_ = bytes;
}

// Joins free neighbours.
void FreeList::add_free(std::uint64_t address, std::uint64_t bytes) {
  const auto next = free_.lower_bound(address);
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == address) {
      address = previous->first;
      bytes += previous->second;
      free_.erase(previous);
    }
  }
  if (next != free_.end() && address + bytes == next->first) {
    bytes += next->second;
    free_.erase(next);
  }
  free_.emplace(address, bytes);
}

std::optional<std::uint64_t> FreeList::lowest_occupied_address() const {
  if (allocated_.empty()) return std::nullopt;
  return allocated_.begin()->first;
}

FreeList::Statistics FreeList::statistics() const {
  Statistics statistics{.total_bytes = size(),
                        .allocated_bytes = allocated_bytes_,
                        .free_bytes = size() - allocated_bytes_,
                        .largest_free_block_bytes = 0};
  for (const auto& [address, bytes] : free_) {
    statistics.largest_free_block_bytes = std::max(statistics.largest_free_block_bytes, bytes);
  }
  return statistics;
}

}  // namespace ttmem::placement
