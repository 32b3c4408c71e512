// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace ttmem::placement {

// Blocks of an address space, by address; no two overlap. Every node of the tree knows the largest
// block of its subtree, so that the first one which is large enough is found from either end in
// logarithmic time, as is everything else. Copying is one copy of a flat array. Not thread-safe.
class BlockTree {
 public:
  struct Block {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;

    [[nodiscard]] std::uint64_t end() const { return address + bytes; }
  };

  void insert(const Block& block);
  // A block begins there.
  void erase(std::uint64_t address);

  // The lowest, or highest, that has at least so many bytes.
  [[nodiscard]] std::optional<Block> lowest(std::uint64_t bytes) const;
  [[nodiscard]] std::optional<Block> highest(std::uint64_t bytes) const;
  // The last that begins at the address or below it.
  [[nodiscard]] std::optional<Block> last_up_to(std::uint64_t address) const;
  // The size of the largest; 0: there are none.
  [[nodiscard]] std::uint64_t largest_bytes() const { return nodes_[root_].largest; }

  // All of them, the lowest first.
  [[nodiscard]] std::vector<Block> all() const;

 private:
  using Index = std::uint32_t;  // into nodes_; 0 is "none"

  // A treap: a search tree by address, a heap by priority.
  struct Node {
    Block block{};
    std::uint64_t largest = 0;  // of the subtree
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
  // Those that begin below the address, and the others.
  [[nodiscard]] Halves split(Index root, std::uint64_t address);
  // All of `low` lie below all of `high`.
  [[nodiscard]] Index merge(Index low, Index high);

  std::vector<Node> nodes_ = {Node{}};
  std::vector<Index> unused_;
  Index root_ = 0;
  std::uint32_t random_ = 1;
};

}  // namespace ttmem::placement
