// SPDX-License-Identifier: Apache-2.0
//
// Tests names of programs, long labels and scopes. The segment stores each of these texts only
// once.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "segment/reader/segment_reader.hpp"
#include "support/device_calls.hpp"
#include "track/tracker/id_tracker.hpp"
#include "tracked.hpp"

namespace ttmem::tracker {
namespace {

using fixtures::buffer;
using fixtures::kGrid;
using fixtures::wormhole;

TEST(Texts, KeepsTheNameOfAProgramUntilItGetsAnother) {
  Tracked tracked;
  tracked->device_open(wormhole(0));
  const ttmem_cb cb = {105664, 1024, &kGrid, 1, 0};
  const ttmem_cb other = {105664, 2048, &kGrid, 1, 0};
  const auto name = [&] { return tracked.read().programs.at(0).name; };
  tracked->program_place(0, 1, {&cb, 1});
  EXPECT_EQ(name(), "");
  tracked->program_place(0, 1, {&cb, 1}, "matmul");
  EXPECT_EQ(name(), "matmul");
  tracked->program_place(0, 1, {&cb, 1});
  tracked->program_place(0, 1, {&other, 1});
  tracked->program_place(0, 1, {&other, 1}, "");
  EXPECT_EQ(name(), "matmul");
  tracked->program_place(0, 1, {&cb, 1}, std::string(500, 'x').c_str());
  EXPECT_EQ(name(), std::string(58, 'x') + "…" + std::string(59, 'x'));
  tracked->program_destroy(1);
  tracked->program_place(0, 1, {&cb, 1});
  EXPECT_EQ(name(), "");
}

TEST(Texts, ANameOutlivesANewGridAndAnUnlistableLayout) {
  Tracked tracked;
  const std::vector<ttmem_cb> many(1025, {105664, 1024, &kGrid, 1, 0});
  tracked->program_place(0, 1, many, "matmul");
  EXPECT_TRUE(tracked.read().programs.empty());
  tracked->device_open(wormhole(0));
  tracked->program_place(0, 1, {many.data(), 1});
  EXPECT_EQ(tracked.read().programs.at(0).name, "matmul");
}

TEST(Texts, WritesEachNameOnceAndCountsNamesWithoutRoom) {
  Tracked tracked;
  const ttmem_cb cb = {105664, 1024, &kGrid, 1, 0};
  for (std::uint32_t i = 0; i < segment::kMaxTexts + 2; ++i) {
    tracked->program_place(0, 1, {&cb, 1}, std::to_string(i).c_str());
    tracked->program_place(0, 2, {&cb, 1}, "0");
  }
  const auto image = tracked.read();
  EXPECT_EQ(image.programs.at(0).name, "") << "not the one that it had before";
  EXPECT_EQ(image.programs.at(1).name, "0");
  EXPECT_EQ(image.dropped_names, 2U);
  EXPECT_EQ(tracked->segment().header().text_count, segment::kMaxTexts);
}

TEST(Texts, LabelsWithoutRoomLoseTheirMiddle) {
  Tracked tracked;
  const auto label = [](std::uint32_t i) {
    return "layers." + std::string(40, 'x') + std::to_string(i);
  };
  constexpr std::uint32_t kMax = segment::kMaxTexts - 16384;
  for (std::uint32_t i = 0; i <= kMax; ++i) {
    const std::string text = label(i);
    ttmem_buffer b = buffer(TTMEM_DRAM, 1, 1 << 20, 64, 64);
    b.label = text.c_str();
    tracked->buffer_alloc(0, b);
  }
  EXPECT_EQ(tracked.read().allocations.at(0).label, "layers.xxxxxxx…xxxxxxxxxx49152");
  EXPECT_EQ(tracked->segment().header().text_count, kMax);
  EXPECT_EQ(tracked.read().dropped_names, 0U);
}

TEST(Texts, AScopeIsAPathAndTheSameNameInAnotherScopeIsAnother) {
  Tracked tracked;
  TextTable& texts = tracked->texts();
  tracked->device_open(wormhole(0));
  const std::uint32_t outer = texts.scope_in(0, "decoder.0");
  tracked->set_scope(outer);
  const std::uint32_t inner = texts.scope_in(outer, "decoder.0");
  EXPECT_NE(inner, outer);
  EXPECT_EQ(texts.scope_in(outer, "decoder.0"), inner);
  EXPECT_EQ(texts.parent_of(inner), outer);
  EXPECT_EQ(texts.parent_of(outer), 0U);
  EXPECT_EQ(texts.name_of(inner), "decoder.0");
  tracked->set_scope(inner);
  tracked->buffer_alloc(0, buffer(TTMEM_DRAM, 1, 64, 10, 0));
  EXPECT_EQ(tracked.read().allocations.at(0).scope, "decoder.0/decoder.0");
}

TEST(Texts, CountsTheVisitsOfAScope) {
  Tracked tracked;
  TextTable& texts = tracked->texts();
  tracked->device_open(wormhole(0));
  const std::uint32_t scope = texts.scope_in(0, "step");
  tracked->set_scope(scope);
  const auto visit = [&] { return tracked.read().allocations.at(0).visit; };
  std::uint32_t* const open = texts.enter_scope(scope);
  ASSERT_EQ(open, texts.open_visits(scope));
  tracked->buffer_alloc(0, buffer(TTMEM_DRAM, 1, 64, 10, 0));
  EXPECT_EQ(visit().state, ScopeVisit::State::lasts);
  EXPECT_EQ(texts.enter_scope(scope), open);
  leave_scope(open);
  EXPECT_EQ(visit().state, ScopeVisit::State::lasts) << "one of two threads is in it";
  EXPECT_EQ(visit().visits, 1U);
  leave_scope(open);
  EXPECT_EQ(visit().state, ScopeVisit::State::over);
  EXPECT_EQ(visit().visits, 2U);
  EXPECT_EQ(tracked.read().allocations.at(0).scope, "step");
}

TEST(Texts, AScopeWithALongNameHasNoRoomForItsVisits) {
  Tracked tracked;
  TextTable& texts = tracked->texts();
  tracked->device_open(wormhole(0));
  const std::string longest(96, 'x');
  EXPECT_NE(texts.enter_scope(texts.scope_in(0, longest.c_str())), nullptr);
  const std::string longer(97, 'x');
  const std::uint32_t scope = texts.scope_in(0, longer.c_str());
  EXPECT_EQ(texts.enter_scope(scope), nullptr);
  leave_scope(nullptr);
  tracked->set_scope(scope);
  tracked->buffer_alloc(0, buffer(TTMEM_DRAM, 1, 64, 10, 0));
  const auto image = tracked.read();
  EXPECT_EQ(image.allocations.at(0).scope, longer);
  EXPECT_EQ(image.allocations.at(0).visit.state, ScopeVisit::State::unknown);
}

}  // namespace
}  // namespace ttmem::tracker
