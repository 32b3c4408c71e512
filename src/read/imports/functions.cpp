// SPDX-License-Identifier: Apache-2.0
#include "read/imports/functions.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace ttmem::imports {
namespace {

// The maximum number of open functions, which limits the time that the import of a hostile graph
// takes.
constexpr std::size_t kMaxOpen = 1000;
constexpr std::size_t kMaxPathFunctions = 64;

}  // namespace

void Functions::begin(const Graph& graph, const Node& node, recording::Time time) {
  if (open_.size() == kMaxOpen) {
    never_ended_.push_back(&node);
    return;
  }
  std::string path = open_.empty() ? std::string() : open_.back().path;
  if (open_.size() < kMaxPathFunctions) path += (path.empty() ? "" : "/") + graph.text(node);
  open_.push_back({&node, time, std::move(path)});
}

std::optional<Functions::Open> Functions::end(const Node& node) {
  const auto same_name = [&node](const Open& open) { return open.node->text == node.text; };
  const auto found = std::find_if(open_.rbegin(), open_.rend(), same_name);
  if (found == open_.rend()) return std::nullopt;
  Open ended = std::move(*found);
  for (auto inside = found.base(); inside != open_.end(); ++inside) {
    never_ended_.push_back(inside->node);
  }
  open_.erase(found.base() - 1, open_.end());
  return ended;
}

std::vector<const Node*> Functions::never_ended() const {
  std::vector<const Node*> all = never_ended_;
  for (const Open& open : open_) all.push_back(open.node);
  std::ranges::sort(all, {}, &Node::counter);
  return all;
}

}  // namespace ttmem::imports
