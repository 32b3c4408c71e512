// SPDX-License-Identifier: Apache-2.0
#include "server/socket/holdings.hpp"

namespace ttmem::server {

std::vector<Holding> Holdings::erase_device(std::uint32_t device) {
  std::vector<Holding> gone;
  table_.for_each([&](const Holding& holding) {
    if (holding.key().device() == device) gone.push_back(holding);
  });
  for (const Holding& holding : gone) erase(find(holding.key()));
  return gone;
}

std::uint64_t Holdings::shared_references(const Holding& holding) const {
  std::uint64_t sum = holding.references;
  for (const Share& share : others_.at(holding.key())) sum += share.references;
  return sum;
}

void Holdings::add(Holding& holding, ConnectionId connection) {
  if (holding.connection == connection) {
    ++holding.references;
    return;
  }
  std::vector<Share>& others = others_[holding.key()];
  holding.is_shared = true;
  for (Share& share : others) {
    if (share.connection != connection) continue;
    ++share.references;
    return;
  }
  others.push_back({connection, 1});
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

void Holdings::remove_all(Holding& holding, ConnectionId connection) {
  if (holding.connection == connection) holding.references = 0;
  if (!holding.is_shared) return;
  for (Share& share : others_.at(holding.key())) {
    if (share.connection == connection) share.references = 0;
  }
  normalize(holding);
}

void Holdings::transfer_to(Holding& holding, ConnectionId connection) {
  if (holding.is_shared) others_.erase(holding.key());
  holding.is_shared = false;
  holding.connection = connection;
  holding.references = 1;
}

// Removes shares without references. A holding is shared by at least two connections, or is not.
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

std::vector<Holding> Holdings::remove_connection(ConnectionId connection) {
  std::vector<HoldingKey> keys;
  table_.for_each([&](const Holding& holding) {
    if (holding.connection == connection || holding.is_shared) keys.push_back(holding.key());
  });
  std::vector<Holding> gone;
  for (const HoldingKey& key : keys) {
    Holding* holding = find(key);
    remove_all(*holding, connection);
    if (holding->references > 0) continue;
    gone.push_back(*holding);
    erase(holding);
  }
  return gone;
}

}  // namespace ttmem::server
