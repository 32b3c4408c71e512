// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "read/placement/block_tree.hpp"

namespace ttmem::placement {

// The address space of a bank: first fit by address. From the bottom, the lowest free block that is
// large enough gives its lower end; from the top, the highest one gives its upper end. Sizes are
// rounded up to the alignment, and a freed block joins its free neighbours.
//
// Example, 100 bytes from address 0, alignment 10: allocate(25, bottom_up) gives 0,
// allocate(10, !bottom_up) gives 90, allocate(55, bottom_up) gives 30, allocate(10) gives nothing.
//
// Everything takes time that is logarithmic in the number of blocks, but for free_blocks().
// Not for several threads at once.
class FreeList {
 public:
  // Of the whole space, without what is reserved.
  struct Statistics {
    std::uint64_t total_bytes = 0;
    std::uint64_t allocated_bytes = 0;
    std::uint64_t free_bytes = 0;
    std::uint64_t largest_free_block_bytes = 0;
  };

  FreeList(std::uint64_t base, std::uint64_t size, std::uint32_t alignment);

  // Nothing when no free block is large enough; then nothing has changed.
  std::optional<std::uint64_t> allocate(std::uint64_t bytes, bool bottom_up);
  // Takes the bytes at this address, rounded up as allocate() does. False when they are not all
  // free, or lie outside of the space; then nothing has changed.
  bool occupy(std::uint64_t address, std::uint64_t bytes);
  // An address that is not allocated is ignored.
  void deallocate(std::uint64_t address);

  // Takes the lowest bytes of the space away, where nothing may be allocated, or gives them back: 0
  // takes nothing.
  void reserve_below(std::uint64_t bytes);

  // Without what is reserved.
  [[nodiscard]] std::uint64_t size() const { return size_ - reserved_; }
  [[nodiscard]] std::optional<std::uint64_t> lowest_occupied_address() const;
  [[nodiscard]] Statistics statistics() const;

  // Address to bytes; no two touch.
  [[nodiscard]] std::map<std::uint64_t, std::uint64_t> free_blocks() const;

 private:
  using Block = BlockTree::Block;

  [[nodiscard]] std::uint64_t rounded(std::uint64_t bytes) const;
  void take(const Block& from, std::uint64_t address, std::uint64_t bytes);
  void add_free(std::uint64_t address, std::uint64_t bytes);

  std::uint64_t base_;
  std::uint64_t size_;
  std::uint32_t alignment_;
  std::uint64_t reserved_ = 0;
  std::uint64_t allocated_bytes_ = 0;
  BlockTree free_;
  std::map<std::uint64_t, std::uint64_t> allocated_;  // address to bytes
};

}  // namespace ttmem::placement
