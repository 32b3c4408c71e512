// SPDX-License-Identifier: Apache-2.0
#include "segment/reader/event_reader.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/segment_builder.hpp"

namespace ttmem::segment {
namespace {

using testing::SegmentBuilder;

Events must_read(const SegmentBuilder& builder, std::uint64_t after) {
  const std::vector<std::byte> bytes = builder.bytes();
  Result<Events> events = read_events(MemorySource(bytes), after);
  if (!events) {
    ADD_FAILURE() << events.error().message;
    return {};
  }
  return std::move(*events);
}

TEST(EventReader, ReturnsEventsAfterTheGivenEvent) {
  SegmentBuilder builder;
  builder.fill_ring(10);
  const Events events = must_read(builder, 7);
  ASSERT_EQ(events.events.size(), 3u);
  EXPECT_EQ(events.events.front().number, 8u);
  EXPECT_EQ(events.events.back().number, 10u);
  EXPECT_EQ(events.lost, 0u);
  EXPECT_EQ(events.newest, 10u);
  EXPECT_TRUE(must_read(builder, 10).events.empty());
  EXPECT_EQ(must_read(builder, 99).newest, 99u) << "the future is no event, and no loss";
}

TEST(EventReader, ASlowReaderLosesTheOldestEventsAndCountsThem) {
  SegmentBuilder builder;
  builder.fill_ring(5000);
  const Events events = must_read(builder, 3000);
  EXPECT_EQ(events.lost, 977u) << "one more than are overwritten: its successor may be on its way";
  ASSERT_EQ(events.events.size(), 1023u);
  for (std::size_t i = 0; i < 1023; ++i) ASSERT_EQ(events.events[i].number, 3978 + i);
}

TEST(EventReader, AnOverwrittenEventIsLost) {
  SegmentBuilder builder;
  builder.fill_ring(2000);
  builder.event(1900 - 1 - 1024).number = 1900 + 1024;
  const Events events = must_read(builder, 1890);
  EXPECT_EQ(events.lost, 1u);
  EXPECT_EQ(events.events.size(), 109u);
  EXPECT_EQ(events.newest, 2000u);
}

TEST(EventReader, TheOldestEventIsLostWhenItsSuccessorIsBeingWritten) {
  SegmentBuilder builder;
  builder.fill_ring(1024);
  builder.event(0).number = 0;
  const Events events = must_read(builder, 0);
  EXPECT_EQ(events.lost, 1u);
  EXPECT_EQ(events.events.size(), 1023u);
}

TEST(EventReader, InvalidEventsAreLost) {
  SegmentBuilder builder;
  builder.fill_ring(3);
  builder.event(0).type = 99;
  builder.event(1).kind = kKinds;
  const Events events = must_read(builder, 0);
  EXPECT_EQ(events.lost, 2u);
  ASSERT_EQ(events.events.size(), 1u);
}

TEST(EventReader, AbsurdNumbersAreBoundedByTheRing) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  SegmentBuilder builder;
  builder.fill_ring(1024);
  builder.header().events = most;
  builder.header().event_capacity = 0xffffffff;
  const Events events = must_read(builder, 0);
  EXPECT_TRUE(events.events.empty());
  EXPECT_EQ(events.lost, most);
  EXPECT_EQ(events.newest, most);
  builder.header().event_capacity = 0;
  EXPECT_EQ(must_read(builder, 5).lost, most - 5);
}

TEST(EventReader, ReturnsNoMoreThanWasAskedFor) {
  SegmentBuilder builder;
  builder.fill_ring(1000);
  const std::vector<std::byte> bytes = builder.bytes();
  const auto events = read_events(MemorySource(bytes), 0, 1);
  ASSERT_TRUE(events);
  EXPECT_EQ(events->newest, 1000u) << "at least what an event with all its details takes";
}

}  // namespace
}  // namespace ttmem::segment
