// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "show/exports/snapshot_encoder.hpp"

namespace ttmem::exports {

// A range of addresses in the exported file, and the blocks in the range. No two spaces may
// overlap, because a viewer identifies an allocation by its address alone. Not thread-safe.
class AddressSpace {
 public:
  static constexpr std::uint64_t kBytes = std::uint64_t{1} << 44;

  struct Block {
    std::uint64_t bytes = 0;
    Shared stack{};
  };

  explicit AddressSpace(std::uint64_t base) : base_(base) {}

  // Reserves the first `bytes` bytes of the space. Does nothing if `bytes` is 0 or more than
  // kBytes.
  void reserve(std::uint64_t bytes);

  // Puts a block at `offset` from the begin of the space. Returns the address in the file, or
  // nullopt if the place is taken or beyond the end. `bytes` of the block must not be 0.
  [[nodiscard]] std::optional<std::uint64_t> put_at(std::uint64_t offset, const Block& block);
  // Puts a block at any free place. Returns nullopt if there is none.
  [[nodiscard]] std::optional<std::uint64_t> put(const Block& block);
  void remove(std::uint64_t address);

  // Returns the block that begins at `address`, or nullptr.
  [[nodiscard]] const Block* find(std::uint64_t address) const;
  // Returns the blocks in the space by their addresses in the file.
  [[nodiscard]] const std::map<std::uint64_t, Block>& blocks() const { return blocks_; }
  // Return the range of all addresses that were ever used or reserved, as [begin, end) in the file.
  // The range is empty if there are none.
  [[nodiscard]] std::uint64_t begin() const { return begin_; }
  [[nodiscard]] std::uint64_t end() const { return end_; }

 private:
  void cover(std::uint64_t begin, std::uint64_t end);

  std::uint64_t base_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::map<std::uint64_t, Block> blocks_;
  std::uint64_t next_ = 0;  // offset of the next new place for put()
  // Freed offsets by size, for further calls of put().
  std::map<std::uint64_t, std::vector<std::uint64_t>> left_over_;
};

}  // namespace ttmem::exports
