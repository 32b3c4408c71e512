// SPDX-License-Identifier: Apache-2.0
#include "read/placement/block_tree.hpp"

#include <algorithm>

namespace ttmem::placement {

BlockTree::Index BlockTree::make(const Block& block) {
  Index node = static_cast<Index>(nodes_.size());
  if (unused_.empty()) {
    nodes_.emplace_back();
  } else {
    node = unused_.back();
    unused_.pop_back();
  }
  // xorshift is random enough, because the priorities only have to be independent of the addresses.
  random_ ^= random_ << 13;
  random_ ^= random_ >> 17;
  random_ ^= random_ << 5;
  nodes_[node] = {block, block.bytes, random_, 0, 0};
  return node;
}

void BlockTree::update(Index node) {
  Node& of = nodes_[node];
  of.largest = std::max({of.block.bytes, nodes_[of.left].largest, nodes_[of.right].largest});
}

BlockTree::Halves BlockTree::split(Index root, std::uint64_t address) {
  if (root == 0) return {0, 0};
  if (nodes_[root].block.address < address) {
    const Halves halves = split(nodes_[root].right, address);
    nodes_[root].right = halves.low;
    update(root);
    return {root, halves.high};
  }
  const Halves halves = split(nodes_[root].left, address);
  nodes_[root].left = halves.high;
  update(root);
  return {halves.low, root};
}

BlockTree::Index BlockTree::merge(Index low, Index high) {
  if (low == 0 || high == 0) return low + high;
  if (nodes_[low].priority > nodes_[high].priority) {
    nodes_[low].right = merge(nodes_[low].right, high);
    update(low);
    return low;
  }
  nodes_[high].left = merge(low, nodes_[high].left);
  update(high);
  return high;
}

void BlockTree::insert(const Block& block) {
  const Index node = make(block);
  const Halves halves = split(root_, block.address);
  root_ = merge(merge(halves.low, node), halves.high);
}

void BlockTree::erase(std::uint64_t address) {
  const Halves halves = split(root_, address);
  const Halves above = split(halves.high, address + 1);
  unused_.push_back(above.low);
  root_ = merge(halves.low, above.high);
}

std::optional<BlockTree::Block> BlockTree::lowest(std::uint64_t bytes) const {
  Index at = root_;
  if (nodes_[at].largest < bytes || at == 0) return std::nullopt;
  for (;;) {
    const Node& node = nodes_[at];
    if (node.left != 0 && nodes_[node.left].largest >= bytes) {
      at = node.left;
    } else if (node.block.bytes >= bytes) {
      return node.block;
    } else {
      at = node.right;
    }
  }
}

std::optional<BlockTree::Block> BlockTree::highest(std::uint64_t bytes) const {
  Index at = root_;
  if (nodes_[at].largest < bytes || at == 0) return std::nullopt;
  for (;;) {
    const Node& node = nodes_[at];
    if (node.right != 0 && nodes_[node.right].largest >= bytes) {
      at = node.right;
    } else if (node.block.bytes >= bytes) {
      return node.block;
    } else {
      at = node.left;
    }
  }
}

std::optional<BlockTree::Block> BlockTree::last_up_to(std::uint64_t address) const {
  std::optional<Block> last;
  for (Index at = root_; at != 0;) {
    const Node& node = nodes_[at];
    if (node.block.address > address) {
      at = node.left;
    } else {
      last = node.block;
      at = node.right;
    }
  }
  return last;
}

std::vector<BlockTree::Block> BlockTree::all() const {
  std::vector<Block> blocks;
  std::vector<Index> path;
  for (Index at = root_; at != 0 || !path.empty();) {
    for (; at != 0; at = nodes_[at].left) path.push_back(at);
    at = path.back();
    path.pop_back();
    blocks.push_back(nodes_[at].block);
    at = nodes_[at].right;
  }
  return blocks;
}

}  // namespace ttmem::placement
