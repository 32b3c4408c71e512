// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "read/placement/block_tree.hpp"

namespace ttmem::placement {

// Allocates the address space of a bank, first fit by address. An allocation from the bottom takes
// the lower end of the lowest free block that is large enough. An allocation from the top takes the
// upper end of the highest such block. Sizes are rounded up to the alignment, and a freed block
// joins its free neighbours.
// Example: 100 bytes from address 0, alignment 10. allocate(25, bottom_up) returns 0, allocate(10,
// !bottom_up) returns 90, allocate(55, bottom_up) returns 30, a further allocate(10) fails.
// All operations but free_blocks() take time logarithmic in the number of blocks. Not thread-safe.
class FreeList {
 public:
  // Figures of the whole space, without the reserved bytes.
  struct Statistics {
    std::uint64_t total_bytes = 0;
    std::uint64_t allocated_bytes = 0;
    std::uint64_t free_bytes = 0;
    std::uint64_t largest_free_block_bytes = 0;
  };

  FreeList(std::uint64_t base, std::uint64_t size, std::uint32_t alignment);

  // Returns the address. If no free block is large enough, returns nullopt and changes nothing.
  std::optional<std::uint64_t> allocate(std::uint64_t bytes, bool bottom_up);
  // Allocates `bytes` at `address`, rounded up as in allocate(). If some of the bytes are not free
  // or lie outside the space, returns false and changes nothing.
  bool occupy(std::uint64_t address, std::uint64_t bytes);
  // Frees the allocation at `address`. An address that is not allocated is ignored.
  void deallocate(std::uint64_t address);

  // Reserves the lowest `bytes` of the space. All of these bytes must be free. Replaces the
  // previous reservation; 0 removes it.
  void reserve_below(std::uint64_t bytes);

  // Returns the size of the space without the reserved bytes.
  [[nodiscard]] std::uint64_t size() const { return size_ - reserved_; }
  [[nodiscard]] std::optional<std::uint64_t> lowest_occupied_address() const;
  [[nodiscard]] Statistics statistics() const;

  // Returns the free blocks as a map from address to size in bytes. No two blocks touch.
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
  std::map<std::uint64_t, std::uint64_t> allocated_;  // size in bytes by address
};

}  // namespace ttmem::placement
