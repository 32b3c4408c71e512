// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace ttmem::placement {

// The blocks of an address space, ordered by address. Blocks do not overlap. Every node of the tree
// stores the size of the largest block of its subtree. All operations on single blocks, such as
// lowest() and highest(), take logarithmic time. A copy of the tree is one copy of a flat array.
// Not thread-safe.
class BlockTree {
 public:
  struct Block {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;

    [[nodiscard]] std::uint64_t end() const { return address + bytes; }
  };

  void insert(const Block& block);
  // Removes the block that begins at `address`. The block must exist.
  void erase(std::uint64_t address);

  // Returns the lowest or the highest block with at least `bytes` bytes; nullopt if there is none.
  [[nodiscard]] std::optional<Block> lowest(std::uint64_t bytes) const;
  [[nodiscard]] std::optional<Block> highest(std::uint64_t bytes) const;
  // Returns the last block that begins at `address` or below it.
  [[nodiscard]] std::optional<Block> last_up_to(std::uint64_t address) const;
  // Returns the size of the largest block; 0 if there are no blocks.
  [[nodiscard]] std::uint64_t largest_bytes() const { return nodes_[root_].largest; }

  // Returns all blocks, lowest first.
  [[nodiscard]] std::vector<Block> all() const;

 private:
  using Index = std::uint32_t;  // into nodes_; 0 means "no node"

  // A treap: a search tree by address, a heap by priority.
  struct Node {
    Block block{};
    std::uint64_t largest = 0;  // the largest block of the subtree
    std::uint32_t priority = 0;
    Index left = 0;
    Index right = 0;
  };
  struct Halves {
    Index low;
    Index high;
  };

  [[nodiscard]] Index make(const Block& block);
  void update(Index node);
  // Splits the subtree into the blocks that begin below `address` and the other blocks.
  [[nodiscard]] Halves split(Index root, std::uint64_t address);
  // Joins two subtrees. All blocks of `low` must lie below all blocks of `high`.
  [[nodiscard]] Index merge(Index low, Index high);

  std::vector<Node> nodes_ = {Node{}};
  std::vector<Index> unused_;
  Index root_ = 0;
  std::uint32_t random_ = 1;
};

}  // namespace ttmem::placement
