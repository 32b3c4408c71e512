// SPDX-License-Identifier: Apache-2.0
//
// The ring of events, as a reader finds it.
#include <fcntl.h>
#include <gtest/gtest.h>

#include "support/device_calls.hpp"
#include "support/event_reader.hpp"
#include "tracked.hpp"
#include "tracker/id_tracker.hpp"

namespace ttmem::tracker {
namespace {

using fixtures::buffer;
using fixtures::wormhole;

TEST(Events, EventsTellTheStoryInOrder) {
  Tracked tracked;
  tracked.core().device_open(wormhole(3));
  tracked->buffer_alloc(3, buffer(TTMEM_L1, 9, 64, 10, 0));
  tracked->buffer_free(3, TTMEM_L1, 9);
  const UniqueFd fd(::open(tracked.core().segment_path().c_str(), O_RDONLY | O_CLOEXEC));
  const auto read = segment::read_events(segment::FdSource(fd.get()), 0);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->events.size(), 3U);
  EXPECT_EQ(read->lost, 0U);
  EXPECT_EQ(read->events[1].id, 9U);
  EXPECT_EQ(read->events[2].number, 3U);
}

TEST(Events, ASlowReaderKnowsHowManyEventsItLost) {
  Tracked tracked;
  tracked.core().device_open(wormhole(0));
  for (int i = 0; i < 5000; ++i) {
    tracked->buffer_alloc(0, buffer(TTMEM_DRAM, 1, 0, 1, 0));
    tracked->buffer_free(0, TTMEM_DRAM, 1);
  }
  const UniqueFd fd(::open(tracked.core().segment_path().c_str(), O_RDONLY | O_CLOEXEC));
  const auto read = segment::read_events(segment::FdSource(fd.get()), 1);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->events.size() + read->lost, 10000U);
  EXPECT_EQ(read->events.back().number, 10001U);
  EXPECT_GT(read->lost, 0U);
}

TEST(Events, AMarkHasTheNumberOfItsText) {
  Tracked tracked;
  tracked.core().device_open(wormhole(0));
  tracked.core().mark("loaded");
  tracked.core().mark("iteration 1");
  tracked.core().mark("loaded");
  const UniqueFd fd(::open(tracked.core().segment_path().c_str(), O_RDONLY | O_CLOEXEC));
  const auto read = segment::read_events(segment::FdSource(fd.get()), 1);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->events.size(), 3U);
  for (const segment::EventRecord& event : read->events) {
    EXPECT_EQ(event.type, static_cast<std::uint8_t>(segment::EventType::mark));
  }
  EXPECT_EQ(tracked.core().name_of_scope(static_cast<std::uint32_t>(read->events[1].id)),
            "iteration 1");
  EXPECT_EQ(read->events[0].id, read->events[2].id);
  EXPECT_NE(read->events[0].id, read->events[1].id);
}

}  // namespace
}  // namespace ttmem::tracker
