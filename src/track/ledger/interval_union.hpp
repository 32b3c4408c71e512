// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace ttmem::ledger {

// A half-open range of L1 addresses. 32 bits suffice, because L1 ends far below 4 GiB.
struct Interval {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  [[nodiscard]] std::uint32_t length() const noexcept { return end - begin; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// A multiset of intervals that always knows the length of its union.
//
// The coverage of an address is the number of intervals that contain the address. Intervals are
// stored as the points where the coverage changes: {[10,30), [20,40)} is +1 at 10, +1 at 20, -1 at
// 30, -1 at 40. The points form a treap. Every node stores, for its subtree, the smallest coverage
// between two points and the number of bytes with that coverage. Coverage is never negative, so the
// bytes with coverage zero at the root are the gaps. The length of the union is the distance
// between the outermost points without the gaps. In the example, it is 40 - 10 - 0 = 30.
//
// add() and remove() take time logarithmic in the number of distinct points; length() and end()
// take constant time. Copying is one copy of a flat array. add(), remove() and copies may throw
// std::bad_alloc, and then have changed nothing. Not thread-safe.
class IntervalUnion {
 public:
  // `interval` must not be empty.
  void add(Interval interval);
  // `interval` must have been added, and must not have been removed since.
  void remove(Interval interval);

  [[nodiscard]] std::uint32_t length() const noexcept;
  // Returns the largest end of all intervals, or 0 if there are none.
  [[nodiscard]] std::uint32_t end() const noexcept;

 private:
  using Index = std::uint32_t;  // into nodes_; 0 is "none"

  // Summary of a run of points that are adjacent in the order of their addresses.
  struct Run {
    std::uint32_t first;
    std::uint32_t last;
    std::int32_t sum;  // change of coverage over the whole run
    // The smallest coverage between the points of the run, as a difference from the coverage below
    // the first point of the run.
    std::int32_t min;
    std::uint32_t min_bytes;  // number of bytes with that coverage
  };
  struct Node {
    std::uint32_t at;
    std::int32_t change;
    std::uint32_t priority;
    Index left;
    Index right;
    Run run;  // summary of the subtree
  };

  static Run join(const Run& low, const Run& high) noexcept;
  void update(Node& node) noexcept;
  // Reserves memory for the two points of one interval, so that later steps cannot fail and no node
  // moves while references to nodes exist.
  void make_room();
  Index change_below(Index root, std::uint32_t at, std::int32_t change) noexcept;
  Index new_node(std::uint32_t at, std::int32_t change) noexcept;
  Index merge(Index low, Index high) noexcept;

  std::vector<Node> nodes_ = std::vector<Node>(1);
  Index free_ = 0;  // first unused node; unused nodes are linked through Node::left
  Index root_ = 0;
  std::uint32_t random_ = 0x9e3779b9;
};

}  // namespace ttmem::ledger
