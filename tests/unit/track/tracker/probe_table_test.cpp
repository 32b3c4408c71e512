// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "track/tracker/live_receipts.hpp"

namespace ttmem::tracker {
namespace {

using Expected = std::unordered_map<std::uint64_t, std::uint64_t>;

// Returns a random id, which is a small counter, a page address or an extreme value. Such ids are
// stored close to each other in the table.
std::uint64_t any_id() {
  const auto number = *rc::gen::inRange<std::uint64_t>(0, 200);
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return number;
    case 1:
      return number << 12;
    case 2:
      return number << 52;
    default:
      return ~number;
  }
}

void expect_same(LiveReceipts& table, const Expected& model) {
  RC_ASSERT(table.size() == model.size());
  for (const auto& [id, bytes] : model) {
    const LiveReceipt* found = table.find(id);
    RC_ASSERT(found != nullptr);
    RC_ASSERT(found->id == id);
    RC_ASSERT(found->used_bytes == bytes);
  }
  std::size_t visited = 0;
  table.for_each([&](const LiveReceipt& live) { visited += model.count(live.id); });
  RC_ASSERT(visited == model.size());
}

TEST(ProbeTable, HoldsWhatAMapHoldsAfterEveryStep) {
  const bool holds = rc::check("random inserts, erases and clears", [] {
    LiveReceipts table;
    Expected model;
    const int steps = *rc::gen::inRange(1, 300);
    for (int step = 0; step < steps; ++step) {
      const std::uint64_t id = any_id();
      if (*rc::gen::weightedElement<bool>({{3, true}, {2, false}})) {
        const auto [entry, is_new] = table.insert(id);
        RC_ASSERT(is_new == !model.contains(id));
        entry->used_bytes = static_cast<std::uint64_t>(step);
        model[id] = static_cast<std::uint64_t>(step);
      } else {
        LiveReceipt* found = table.find(id);
        RC_ASSERT((found != nullptr) == model.contains(id));
        if (found != nullptr) table.erase(found);
        model.erase(id);
      }
      if (step == 250) {
        table.clear();
        model.clear();
      }
      expect_same(table, model);
    }
  });
  EXPECT_TRUE(holds);
}

TEST(ProbeTable, ANewEntryHasNothingOfAnErasedEntry) {
  LiveReceipts table;
  LiveReceipt* entry = table.insert(7).first;
  entry->used_bytes = 5;
  entry->is_estimate = true;
  table.erase(entry);
  const LiveReceipt& again = *table.insert(7).first;
  EXPECT_EQ(again.used_bytes, 0u);
  EXPECT_FALSE(again.is_estimate);
  EXPECT_EQ(again.reports, 1);
  EXPECT_EQ(again.slot, segment::kNoSlot);
}

TEST(ProbeTable, ErasesWrappedEntriesInAnyOrder) {
  LiveReceipts table;
  std::vector<std::uint64_t> ids;
  for (std::uint64_t id = 0; id < 5000; ++id) ids.push_back(id * 4096);
  for (const std::uint64_t id : ids) ASSERT_TRUE(table.insert(id).second);
  for (std::size_t i = 0; i < ids.size(); i += 2) table.erase(table.find(ids[i]));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(table.find(ids[i]) != nullptr, i % 2 == 1) << ids[i];
  }
}

}  // namespace
}  // namespace ttmem::tracker
