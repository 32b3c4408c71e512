// SPDX-License-Identifier: Apache-2.0
#include "server/holdings.hpp"

#include <algorithm>

namespace ttmem::server {

std::uint64_t Holding::references() const {
  std::uint64_t sum = first_.references;
  if (others_) {
    for (const Share& share : *others_) sum += share.references;
  }
  return sum;
}

Holding::Share* Holding::share_of(ConnectionId connection) {
  if (first_.connection == connection) return &first_;
  if (!others_) return nullptr;
  const auto found = std::find_if(others_->begin(), others_->end(), [&](const Share& share) {
    return share.connection == connection;
  });
  return found == others_->end() ? nullptr : &*found;
}

void Holding::add(ConnectionId connection) {
  if (Share* share = share_of(connection)) {
    ++share->references;
    return;
  }
  if (!others_) others_ = std::make_unique<std::vector<Share>>();
  others_->push_back({connection, 1});
}

void Holding::remove_one(ConnectionId connection) {
  Share* share = share_of(connection);
  if (share == nullptr) share = &first_;
  --share->references;
  normalize();
}

void Holding::remove_all(ConnectionId connection) {
  if (Share* share = share_of(connection)) share->references = 0;
  normalize();
}

void Holding::belong_to(ConnectionId connection) {
  first_ = {connection, 1};
  others_.reset();
}

// No share is empty, but the first when there is no other.
void Holding::normalize() {
  if (!others_) return;
  std::erase_if(*others_, [](const Share& share) { return share.references == 0; });
  if (first_.references == 0 && !others_->empty()) {
    first_ = others_->back();
    others_->pop_back();
  }
  if (others_->empty()) others_.reset();
}

}  // namespace ttmem::server
