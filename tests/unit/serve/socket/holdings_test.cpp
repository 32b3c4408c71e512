// SPDX-License-Identifier: Apache-2.0
#include "serve/socket/holdings.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <map>
#include <set>

namespace ttmem::serve {
namespace {

using Shares = std::map<ConnectionId, std::uint64_t>;
using Model = std::map<HoldingKey, Shares>;

std::uint64_t references(const Shares& shares) {
  std::uint64_t sum = 0;
  for (const auto& [connection, count] : shares) sum += count;
  return sum;
}

void allocate(Holdings& holdings, Model& model, const HoldingKey& key, ConnectionId connection) {
  const auto [holding, is_new] = holdings.insert(key, connection, Kind::dram, 1);
  RC_ASSERT(is_new == !model.contains(key));
  if (!is_new) {
    RC_ASSERT(holdings.add(*holding, connection) == !model[key].contains(connection));
  }
  ++model[key][connection];
}

void free(Holdings& holdings, Model& model, const HoldingKey& key, ConnectionId connection) {
  Holding* holding = holdings.find(key);
  RC_ASSERT((holding != nullptr) == model.contains(key));
  if (holding == nullptr) return;
  Shares& shares = model[key];
  // If `connection` has no reference, the free removes a reference of a connection that has one.
  if (!shares.contains(connection)) connection = holding->connection;
  RC_ASSERT(shares.contains(connection));
  if (--shares[connection] == 0) shares.erase(connection);
  RC_ASSERT(holdings.remove_one(*holding, connection) == references(shares));
  RC_ASSERT(holdings.references(*holding) == references(shares));
  if (!shares.empty()) return;
  model.erase(key);
  holdings.erase(holding);
}

void leave(Holdings& holdings, Model& model, ConnectionId connection) {
  std::set<HoldingKey> gone;
  for (const Holding& holding : holdings.remove_connections(std::span(&connection, 1))) {
    RC_ASSERT(gone.insert(holding.key()).second);
    RC_ASSERT(model.contains(holding.key()));
  }
  for (auto it = model.begin(); it != model.end();) {
    it->second.erase(connection);
    RC_ASSERT(gone.contains(it->first) == it->second.empty());
    it = it->second.empty() ? model.erase(it) : std::next(it);
  }
}

RC_GTEST_PROP(Holdings, CountTheReferencesOfEachConnection, ()) {
  Holdings holdings;
  Model model;
  const auto steps = *rc::gen::inRange(1, 200);
  for (int step = 0; step < steps; ++step) {
    const auto key =
        HoldingKey::of(*rc::gen::inRange<std::uint64_t>(0, 4) << 12, *rc::gen::inRange(0U, 3U),
                       *rc::gen::inRange<std::uint8_t>(0, 3));
    const auto connection = *rc::gen::inRange<ConnectionId>(1, 4);
    switch (*rc::gen::inRange(0, 12)) {
      case 0:
        leave(holdings, model, connection);
        break;
      case 1:
        for (const Holding& gone : holdings.erase_device(key.device())) {
          RC_ASSERT(gone.key().device() == key.device());
          RC_ASSERT(model.erase(gone.key()) == 1U);
        }
        for (const auto& [left, shares] : model) RC_ASSERT(left.device() != key.device());
        break;
      case 2:
        if (Holding* holding = holdings.find(key)) {
          holdings.transfer_to(*holding, connection);
          model[key] = {{connection, 1}};
        }
        break;
      case 3:
      case 4:
      case 5:
      case 6:
        free(holdings, model, key, connection);
        break;
      default:
        allocate(holdings, model, key, connection);
    }
    RC_ASSERT(holdings.size() == model.size());
    for (const auto& [held, shares] : model) {
      const Holding* holding = holdings.find(held);
      RC_ASSERT(holding != nullptr);
      RC_ASSERT(holdings.references(*holding) == references(shares));
    }
  }
}

TEST(Holdings, EndedConnectionsAreOneShare) {
  Holdings holdings;
  const auto key = HoldingKey::of(4096, 0, HoldingKey::kUntypedBuffers);
  Holding* holding = holdings.insert(key, 1, Kind::dram, 1).first;
  EXPECT_FALSE(holdings.add(*holding, 1));
  for (ConnectionId id = 2; id <= 1000; ++id) {
    EXPECT_TRUE(holdings.add(*holding, id));
    holdings.merge(*holding, [&](ConnectionId other) { return other != id; });
    EXPECT_EQ(holdings.references(*holding), id + 1);
  }
  EXPECT_TRUE(holdings.remove_connections(std::array<ConnectionId, 1>{1000}).empty());
  EXPECT_FALSE(holding->is_shared) << "there were two: of the last, and of all others";
  EXPECT_EQ(holdings.references(*holding), 1000U);
}

}  // namespace
}  // namespace ttmem::serve
