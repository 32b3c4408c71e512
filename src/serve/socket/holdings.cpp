// SPDX-License-Identifier: Apache-2.0
#include "serve/socket/holdings.hpp"

#include <algorithm>
#include <utility>

namespace ttmem::serve {
namespace {

bool contains(std::span<const ConnectionId> connections, ConnectionId connection) {
  return std::find(connections.begin(), connections.end(), connection) != connections.end();
}

}  // namespace

std::vector<Holding> Holdings::erase_device(std::uint32_t device) {
  std::vector<Holding> gone;
  table_.for_each([&](const Holding& holding) {
    if (holding.key().device() == device) gone.push_back(holding);
  });
  for (const Holding& holding : gone) erase(find(holding.key()));
  return gone;
}

std::vector<Holding> Holdings::erase_all() {
  std::vector<Holding> gone;
  table_.for_each([&](const Holding& holding) { gone.push_back(holding); });
  for (const Holding& holding : gone) erase(find(holding.key()));
  return gone;
}

std::uint64_t Holdings::shared_references(const Holding& holding) const {
  std::uint64_t sum = holding.references;
  for (const Share& share : others_.at(holding.key())) sum += share.references;
  return sum;
}

bool Holdings::add(Holding& holding, ConnectionId connection) {
  if (holding.connection == connection) {
    ++holding.references;
    return false;
  }
  std::vector<Share>& others = others_[holding.key()];
  holding.is_shared = true;
  for (Share& share : others) {
    if (share.connection != connection) continue;
    ++share.references;
    return false;
  }
  others.push_back({connection, 1});
  return true;
}

void Holdings::merge(Holding& holding, const std::function<bool(ConnectionId)>& is_over) {
  if (!holding.is_shared) return;
  std::uint32_t* merged = is_over(holding.connection) ? &holding.references : nullptr;
  for (Share& share : others_.at(holding.key())) {
    if (!is_over(share.connection)) continue;
    if (merged == nullptr) {
      merged = &share.references;
    } else {
      *merged += std::exchange(share.references, 0);
    }
  }
  normalize(holding);
}

std::uint64_t Holdings::remove_one_shared(Holding& holding, ConnectionId connection) {
  std::uint32_t* references = &holding.references;
  for (Share& share : others_.at(holding.key())) {
    if (share.connection == connection) references = &share.references;
  }
  --*references;
  normalize(holding);
  return this->references(holding);
}

void Holdings::erase_others(const Holding& holding) { others_.erase(holding.key()); }

void Holdings::remove_all(Holding& holding, std::span<const ConnectionId> connections) {
  if (contains(connections, holding.connection)) holding.references = 0;
  if (!holding.is_shared) return;
  for (Share& share : others_.at(holding.key())) {
    if (contains(connections, share.connection)) share.references = 0;
  }
  normalize(holding);
}

void Holdings::transfer_to(Holding& holding, ConnectionId connection) {
  if (holding.is_shared) others_.erase(holding.key());
  holding.is_shared = false;
  holding.connection = connection;
  holding.references = 1;
}

// Removes shares without references. If one connection is left, the holding is no longer shared.
void Holdings::normalize(Holding& holding) {
  const auto entry = others_.find(holding.key());
  std::vector<Share>& others = entry->second;
  std::erase_if(others, [](const Share& share) { return share.references == 0; });
  if (holding.references == 0 && !others.empty()) {
    holding.connection = others.back().connection;
    holding.references = others.back().references;
    others.pop_back();
  }
  holding.is_shared = !others.empty();
  if (!holding.is_shared) others_.erase(entry);
}

std::vector<Holding> Holdings::remove_connections(std::span<const ConnectionId> connections) {
  std::vector<HoldingKey> keys;
  table_.for_each([&](const Holding& holding) {
    const bool concerned = holding.is_shared || contains(connections, holding.connection);
    if (concerned) keys.push_back(holding.key());
  });
  std::vector<Holding> gone;
  for (const HoldingKey& key : keys) {
    Holding* holding = find(key);
    remove_all(*holding, connections);
    if (holding->references > 0) continue;
    gone.push_back(*holding);
    erase(holding);
  }
  return gone;
}

}  // namespace ttmem::serve
