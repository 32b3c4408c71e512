// SPDX-License-Identifier: Apache-2.0
#include "track/ledger/interval_union.hpp"

#include <limits>
#include <utility>

namespace ttmem::ledger {

void IntervalUnion::add(Interval interval) {
  make_room();
  root_ = change_below(root_, interval.begin, +1);
  root_ = change_below(root_, interval.end, -1);
}

void IntervalUnion::remove(Interval interval) {
  // Removing an interval may add a point. If one interval ends where another interval begins, the
  // coverage does not change there. That address becomes a point when one of the two intervals is
  // removed.
  make_room();
  root_ = change_below(root_, interval.begin, -1);
  root_ = change_below(root_, interval.end, +1);
}

void IntervalUnion::make_room() {
  if (nodes_.capacity() - nodes_.size() < 2) nodes_.reserve(2 * nodes_.size() + 14);
}

std::uint32_t IntervalUnion::length() const noexcept {
  if (root_ == 0) return 0;
  const Run& all = nodes_[root_].run;
  return all.last - all.first - (all.min == 0 ? all.min_bytes : 0);
}

std::uint32_t IntervalUnion::end() const noexcept {
  return root_ == 0 ? 0 : nodes_[root_].run.last;
}

IntervalUnion::Run IntervalUnion::join(const Run& low, const Run& high) noexcept {
  Run joined{low.first, high.last, low.sum + high.sum, low.min, low.min_bytes};
  const auto consider = [&joined](std::int32_t coverage, std::uint32_t bytes) {
    if (coverage < joined.min) {
      joined.min = coverage;
      joined.min_bytes = bytes;
    } else if (coverage == joined.min) {
      joined.min_bytes += bytes;
    }
  };
  consider(low.sum, high.first - low.last);
  if (high.min_bytes > 0) consider(low.sum + high.min, high.min_bytes);
  return joined;
}

void IntervalUnion::update(Node& node) noexcept {
  Run run{node.at, node.at, node.change, std::numeric_limits<std::int32_t>::max(), 0};
  if (node.left != 0) run = join(nodes_[node.left].run, run);
  if (node.right != 0) run = join(run, nodes_[node.right].run);
  node.run = run;
}

IntervalUnion::Index IntervalUnion::change_below(Index root, std::uint32_t at,
                                                 std::int32_t change) noexcept {
  if (root == 0) return new_node(at, change);
  Node& node = nodes_[root];
  if (at == node.at) {
    node.change += change;
    if (node.change == 0) {
      const Index rest = merge(node.left, node.right);
      node.left = std::exchange(free_, root);
      return rest;
    }
    update(node);
    return root;
  }
  Index& child = at < node.at ? node.left : node.right;
  child = change_below(child, at, change);
  if (child != 0 && nodes_[child].priority > node.priority) {
    // Rotates the new child up, so that this node becomes its child.
    const Index up = child;
    Node& above = nodes_[up];
    Index& inner = at < node.at ? above.right : above.left;
    child = std::exchange(inner, root);
    update(node);
    update(above);
    return up;
  }
  update(node);
  return root;
}

IntervalUnion::Index IntervalUnion::new_node(std::uint32_t at, std::int32_t change) noexcept {
  Index index = free_;
  if (index != 0) {
    free_ = nodes_[index].left;
  } else {
    index = static_cast<Index>(nodes_.size());
    nodes_.emplace_back();
  }
  random_ ^= random_ << 13;
  random_ ^= random_ >> 17;
  random_ ^= random_ << 5;
  nodes_[index] = {at, change, random_, 0, 0, {}};
  update(nodes_[index]);
  return index;
}

IntervalUnion::Index IntervalUnion::merge(Index low, Index high) noexcept {
  if (low == 0) return high;
  if (high == 0) return low;
  Node& a = nodes_[low];
  Node& b = nodes_[high];
  if (a.priority > b.priority) {
    a.right = merge(a.right, high);
    update(a);
    return low;
  }
  b.left = merge(low, b.left);
  update(b);
  return high;
}

}  // namespace ttmem::ledger
