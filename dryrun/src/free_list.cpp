// SPDX-License-Identifier: Apache-2.0
#include "free_list.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "align.hpp"

namespace tt::tt_metal::dryrun {

FreeList::FreeList(DeviceAddr base, DeviceAddr size, std::uint32_t alignment)
    : base_(base), size_(size), alignment_(alignment) {
  if (size > 0) free_.emplace(base, size);
}

std::optional<DeviceAddr> FreeList::allocate(DeviceAddr size, bool bottom_up) {
  const DeviceAddr needed = align_up(std::max<DeviceAddr>(size, alignment_), alignment_);
  const auto fits = [needed](const auto& block) { return block.second >= needed; };
  if (bottom_up) {
    const auto block = std::find_if(free_.begin(), free_.end(), fits);
    if (block == free_.end()) return std::nullopt;
    return take(block, needed, true);
  }
  const auto block = std::find_if(free_.rbegin(), free_.rend(), fits);
  if (block == free_.rend()) return std::nullopt;
  return take(std::prev(block.base()), needed, false);
}

DeviceAddr FreeList::take(std::map<DeviceAddr, DeviceAddr>::iterator block, DeviceAddr size,
                          bool bottom_up) {
  const auto [block_address, block_size] = *block;
  const DeviceAddr address = bottom_up ? block_address : block_address + block_size - size;
  free_.erase(block);
  if (block_size > size) {
    free_.emplace(bottom_up ? block_address + size : block_address, block_size - size);
  }
  allocated_.emplace(address, size);
  return address;
}

void FreeList::deallocate(DeviceAddr address) {
  const auto found = allocated_.find(address);
  if (found == allocated_.end()) return;
  const DeviceAddr size = found->second;
  allocated_.erase(found);
  add_free(address, size);
}

void FreeList::reserve_below(DeviceAddr bytes) {
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
void FreeList::add_free(DeviceAddr address, DeviceAddr size) {
  const auto next = free_.lower_bound(address);
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == address) {
      address = previous->first;
      size += previous->second;
      free_.erase(previous);
    }
  }
  if (next != free_.end() && address + size == next->first) {
    size += next->second;
    free_.erase(next);
  }
  free_.emplace(address, size);
}

std::optional<DeviceAddr> FreeList::lowest_occupied_address() const {
  if (allocated_.empty()) return std::nullopt;
  return allocated_.begin()->first;
}

Statistics FreeList::statistics() const {
  Statistics statistics{.total_allocatable_size_bytes = this->size()};
  for (const auto& [address, size] : allocated_) statistics.total_allocated_bytes += size;
  for (const auto& [address, size] : free_) {
    statistics.total_free_bytes += size;
    statistics.largest_free_block_bytes = std::max(statistics.largest_free_block_bytes, size);
  }
  return statistics;
}

}  // namespace tt::tt_metal::dryrun
