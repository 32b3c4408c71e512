// SPDX-License-Identifier: Apache-2.0
#include "serve/socket/library_connections.hpp"

#include <algorithm>

namespace ttmem::serve {
namespace {

bool has(const LibraryConnections::Ids& ids, ConnectionId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

LibraryConnections::Copy* LibraryConnections::find(std::uint64_t number) {
  const auto found = std::find_if(copies_.begin(), copies_.end(),
                                  [&](const Copy& copy) { return copy.number == number; });
  return found == copies_.end() ? nullptr : &*found;
}

LibraryConnections::Ids LibraryConnections::hello(ConnectionId connection, std::uint64_t number) {
  if (contains(connection)) return {};
  Copy* copy = find(number);
  if (copy == nullptr) {
    if (copies_.size() == kMaxCopies) return {};
    copy = &copies_.emplace_back();
    copy->number = number;
  }
  Ids obsolete;
  if (copy->connections.size() >= kMaxConnections) obsolete.swap(copy->connections);
  copy->connections.push_back(connection);
  if (connection < copy->newest) return obsolete;
  copy->newest = connection;
  copy->is_complete = false;
  copy->has_left = false;
  return obsolete;
}

LibraryConnections::Ids LibraryConnections::complete(
    ConnectionId connection, const std::function<bool(ConnectionId)>& is_connected) {
  for (Copy& copy : copies_) {
    if (copy.newest != connection) continue;
    copy.is_complete = true;
    Ids obsolete = copy.connections;
    std::erase(obsolete, connection);
    std::erase_if(copy.connections, [&](ConnectionId id) { return !is_connected(id); });
    return obsolete;
  }
  return {};
}

LibraryConnections::Ids LibraryConnections::goodbye(std::uint64_t number) {
  Copy* copy = find(number);
  if (copy == nullptr) return {};
  copy->is_complete = true;
  copy->has_left = true;
  return copy->connections;
}

void LibraryConnections::ended(ConnectionId connection) {
  for (Copy& copy : copies_) {
    if (!has(copy.connections, connection)) continue;
    const bool counts = copy.newest == connection || !copy.is_complete;
    if (!counts || copy.has_left) std::erase(copy.connections, connection);
  }
}

bool LibraryConnections::contains(ConnectionId connection) const {
  return std::any_of(copies_.begin(), copies_.end(),
                     [&](const Copy& copy) { return has(copy.connections, connection); });
}

bool LibraryConnections::is_replaced(ConnectionId connection) const {
  return std::any_of(copies_.begin(), copies_.end(), [&](const Copy& copy) {
    return has(copy.connections, connection) && copy.newest != connection;
  });
}

bool LibraryConnections::all_left() const {
  return std::all_of(copies_.begin(), copies_.end(),
                     [](const Copy& copy) { return copy.has_left; });
}

}  // namespace ttmem::serve
