// SPDX-License-Identifier: Apache-2.0
#include "read/placement/free_list.hpp"

#include <algorithm>
#include <utility>

#include "read/placement/align.hpp"

namespace ttmem::placement {

FreeList::FreeList(std::uint64_t base, std::uint64_t size, std::uint32_t alignment)
    : base_(base), size_(size), alignment_(alignment) {
  if (size > 0) free_.insert({base, size});
}

std::uint64_t FreeList::rounded(std::uint64_t bytes) const {
  return align_up(std::max<std::uint64_t>(bytes, 1), alignment_);
}

std::optional<std::uint64_t> FreeList::allocate(std::uint64_t bytes, bool bottom_up) {
  if (bytes > size_) return std::nullopt;  // rounding up such a size could overflow to 0
  const std::uint64_t needed = rounded(bytes);
  const auto block = bottom_up ? free_.lowest(needed) : free_.highest(needed);
  if (!block) return std::nullopt;
  const std::uint64_t address = bottom_up ? block->address : block->end() - needed;
  take(*block, address, needed);
  return address;
}

bool FreeList::occupy(std::uint64_t address, std::uint64_t bytes) {
  if (bytes > size_) return false;
  const std::uint64_t needed = rounded(bytes);
  const auto block = free_.last_up_to(address);
  if (!block) return false;
  const std::uint64_t offset = address - block->address;
  if (offset > block->bytes || block->bytes - offset < needed) return false;
  take(*block, address, needed);
  return true;
}

// Takes `bytes` at `address` from the free block `from`, which must contain them.
void FreeList::take(const Block& from, std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  free_.erase(from.address);
  if (from.address < address) free_.insert({from.address, address - from.address});
  if (end < from.end()) free_.insert({end, from.end() - end});
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
  // The caller guarantees that the range is free, so one free block contains the range.
  const Block lowest = *free_.last_up_to(base_);
  free_.erase(lowest.address);
  if (lowest.bytes > bytes) free_.insert({lowest.address + bytes, lowest.bytes - bytes});
  reserved_ = bytes;
}

// Adds a free block and joins it with its free neighbours.
void FreeList::add_free(std::uint64_t address, std::uint64_t bytes) {
  Block block{address, bytes};
  const auto below = free_.last_up_to(address);
  if (below && below->end() == address) {
    free_.erase(below->address);
    block = {below->address, below->bytes + bytes};
  }
  // A free neighbour above begins exactly where this block ends.
  const auto above = free_.last_up_to(block.end());
  if (above && above->address == block.end()) {
    free_.erase(above->address);
    block.bytes += above->bytes;
  }
  free_.insert(block);
}

std::optional<std::uint64_t> FreeList::lowest_occupied_address() const {
  if (allocated_.empty()) return std::nullopt;
  return allocated_.begin()->first;
}

std::map<std::uint64_t, std::uint64_t> FreeList::free_blocks() const {
  std::map<std::uint64_t, std::uint64_t> blocks;
  for (const Block& block : free_.all()) blocks.emplace(block.address, block.bytes);
  return blocks;
}

FreeList::Statistics FreeList::statistics() const {
  return {.total_bytes = size(),
          .allocated_bytes = allocated_bytes_,
          .free_bytes = size() - allocated_bytes_,
          .largest_free_block_bytes = free_.largest_bytes()};
}

}  // namespace ttmem::placement
