// SPDX-License-Identifier: Apache-2.0
#include "analyse/leaks/outlived_scopes.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ttmem::leaks {
namespace {

using How = Outlived::How;
using Of = Outlived::Of;
using State = ScopeVisit::State;

Leak leak(const std::string& scope, std::uint64_t bytes = 100, const std::string& label = "") {
  Leak one;
  one.kind = Kind::dram;
  one.scope = scope;
  one.label = label;
  one.bytes_on.add(0, bytes);
  one.count = 1;
  return one;
}

ScopeVisit over(std::uint32_t visits, bool is_last = false) {
  return {.state = State::over, .visits = visits, .is_last = is_last};
}

TEST(ScopeVisits, AScopeWithoutAThreadInItWasLeft) {
  const ScopeVisits scope{.entered = 3, .open = 0, .last_ns = 30, .before_ns = 20};
  for (const std::int64_t when : {15, 30, 40}) EXPECT_EQ(visit_at(when, scope).state, State::over);
  EXPECT_EQ(visit_at(15, scope).visits, 3U);
  EXPECT_FALSE(visit_at(15, scope).is_last);
  EXPECT_TRUE(visit_at(30, scope).is_last);
}

TEST(ScopeVisits, AnOpenScopeWasLeftByStrictlyOlderVisits) {
  const ScopeVisits scope{.entered = 4, .open = 1, .last_ns = 30, .before_ns = 20};
  EXPECT_EQ(visit_at(29, scope).state, State::over);
  EXPECT_EQ(visit_at(30, scope).state, State::lasts) << "the same tick of a coarse clock";
  EXPECT_EQ(visit_at(29, scope).visits, 3U);
  EXPECT_TRUE(visit_at(20, scope).is_last);
  EXPECT_FALSE(visit_at(19, scope).is_last);
  EXPECT_EQ(visit_at(10, {}).state, State::unknown);
  EXPECT_EQ(visit_at(10, {.entered = 1, .open = 9, .last_ns = 30}).visits, 0U) << "nonsense";
}

TEST(OutlivedScopes, RanksScopesThatLeaveABufferOnEveryVisitFirst) {
  OutlivedScopes scopes;
  for (int i = 0; i < 5; ++i) scopes.add(1, Of::allocations, over(5, i == 4), leak("step", 10));
  scopes.add(1, Of::allocations, over(5, true), leak("forward", 1000));
  scopes.add(1, Of::allocations, over(1, true), leak("load", 1 << 20));
  scopes.add(1, Of::allocations, {.state = State::lasts}, leak("open"));
  scopes.add(1, Of::allocations, {}, leak(""));
  EXPECT_FALSE(scopes.unknown());
  const auto list = scopes.take();
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0].what.scope, "step");
  EXPECT_EQ(list[0].how, How::every_time);
  EXPECT_EQ(list[0].visits, 5U);
  EXPECT_EQ(list[0].what.bytes_on.on_all(), 50U);
  EXPECT_EQ(list[1].how, How::sometimes);
  EXPECT_EQ(list[2].how, How::once);
  EXPECT_TRUE(scopes.take().empty());
}

TEST(OutlivedScopes, ABufferOfTheFirstVisitAloneIsNoSuspect) {
  OutlivedScopes scopes;
  for (int i = 0; i < 64; ++i) scopes.add(1, Of::allocations, over(3), leak("decode", 10, "kv"));
  const auto list = scopes.take();
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].how, How::sometimes);
}

TEST(OutlivedScopes, ScopesOfOnePatternEnteredOnceEachAreNoSuspects) {
  OutlivedScopes scopes;
  for (int i = 0; i < 8; ++i) {
    const std::string layer = "load/layer." + std::to_string(i);
    scopes.add(1, Of::allocations, over(1, true), leak(layer, 10, "w"));
    scopes.add(2, Of::allocations, over(2, true), leak(layer, 10, "a"));
    scopes.add(2, Of::allocations, over(2, true), leak(layer, 10, "b"));
  }
  const auto list = scopes.take();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].how, How::every_time);
  EXPECT_EQ(list[0].what.scope, "load/layer.#");
  EXPECT_EQ(list[0].what.label, "") << "they have none in common";
  EXPECT_EQ(list[0].visits, 16U);
  EXPECT_EQ(list[1].how, How::once);
  EXPECT_EQ(list[1].what.label, "w");
  EXPECT_EQ(list[1].what.count, 8U);
}

TEST(OutlivedScopes, ResultsOutliveTheirOperationAndProgramsAreCached) {
  OutlivedScopes scopes;
  for (int i = 0; i < 3; ++i) {
    scopes.add(1, Of::allocations, over(3, true), leak("model/ttnn::from_torch"));
    scopes.add(1, Of::programs, over(3, true), leak("every"));
  }
  scopes.add(1, Of::programs, over(3, true), leak("cached"));
  const auto list = scopes.take();
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].what.scope, "every");
  EXPECT_EQ(list[0].of, Of::programs);
}

TEST(OutlivedScopes, NamesUnknownFacts) {
  OutlivedScopes scopes;
  scopes.add(1, Of::allocations, {}, leak("step"));
  EXPECT_TRUE(scopes.take().empty());
  ASSERT_TRUE(scopes.unknown());
  EXPECT_NE(scopes.unknown()->find("1 allocation or program it is not known whether its scope"),
            std::string::npos);
  scopes.add(1, Of::allocations, {}, leak("step"));
  EXPECT_NE(scopes.unknown()->find("2 allocations and programs it is not known whether their"),
            std::string::npos);
}

}  // namespace
}  // namespace ttmem::leaks
