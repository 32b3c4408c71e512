// SPDX-License-Identifier: Apache-2.0
//
// Tests the ring of events as a reader sees it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "segment/reader/buffer_layout.hpp"
#include "segment/reader/event_reader.hpp"
#include "support/device_calls.hpp"
#include "support/temporary_directory.hpp"
#include "track/tracker/id_tracker.hpp"
#include "tracked.hpp"

namespace ttmem::tracker {
namespace {

using fixtures::buffer;
using fixtures::wormhole;

TEST(Events, EventsComeInOrder) {
  Tracked tracked;
  tracked->device_open(wormhole(3));
  tracked->buffer_alloc(3, buffer(TTMEM_L1, 9, 64, 10, 0));
  tracked->buffer_free(3, TTMEM_L1, 9);
  const UniqueFd fd(::open(tracked->segment().path().c_str(), O_RDONLY | O_CLOEXEC));
  const auto read = segment::read_events(segment::FdSource(fd.get()), 0);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->events.size(), 3U);
  EXPECT_EQ(read->lost, 0U);
  EXPECT_EQ(read->events[1].id, 9U);
  EXPECT_EQ(read->events[2].number, 3U);
}

TEST(Events, ASlowReaderKnowsHowManyEventsItLost) {
  Tracked tracked;
  tracked->device_open(wormhole(0));
  for (int i = 0; i < 5000; ++i) {
    tracked->buffer_alloc(0, buffer(TTMEM_DRAM, 1, 0, 1, 0));
    tracked->buffer_free(0, TTMEM_DRAM, 1);
  }
  const UniqueFd fd(::open(tracked->segment().path().c_str(), O_RDONLY | O_CLOEXEC));
  const auto read = segment::read_events(segment::FdSource(fd.get()), 1);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->events.size() + read->lost, 10000U);
  EXPECT_EQ(read->events.back().number, 10001U);
  EXPECT_GT(read->lost, 0U);
}

TEST(Events, AMarkHasTheNumberOfItsText) {
  Tracked tracked;
  tracked->device_open(wormhole(0));
  tracked->mark("loaded");
  tracked->mark("iteration 1");
  tracked->mark("loaded");
  const UniqueFd fd(::open(tracked->segment().path().c_str(), O_RDONLY | O_CLOEXEC));
  const auto read = segment::read_events(segment::FdSource(fd.get()), 1);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->events.size(), 3U);
  for (const segment::EventRecord& event : read->events) {
    EXPECT_EQ(event.type, static_cast<std::uint8_t>(segment::EventType::mark));
  }
  EXPECT_EQ(tracked->texts().name_of(static_cast<std::uint32_t>(read->events[1].id)),
            "iteration 1");
  EXPECT_EQ(read->events[0].id, read->events[2].id);
  EXPECT_NE(read->events[0].id, read->events[1].id);
}

// Tests with a tracker that adds details to its events, as a recorder can request.
class DetailedEvents : public ::testing::Test {
 protected:
  DetailedEvents() {
    segment::SegmentWriter::Options options;
    options.directory = directory_.path();
    options.event_chunks = 8;
    options.event_details = true;
    auto started = IdTracker::start(options);
    EXPECT_TRUE(started) << started.error().message;
    tracker_ = std::move(*started);
    tracker_->device_open(wormhole(3));
  }
  ~DetailedEvents() override { tracker_->segment().finish(); }

  [[nodiscard]] segment::Events read(std::uint64_t after = 0) {
    const UniqueFd fd(::open(tracker_->segment().path().c_str(), O_RDONLY | O_CLOEXEC));
    auto events = segment::read_events(segment::FdSource(fd.get()), after);
    EXPECT_TRUE(events) << events.error().message;
    return std::move(*events);
  }
  static std::vector<segment::EventType> types(const segment::Events& events) {
    std::vector<segment::EventType> list;
    for (const auto& event : events.events) {
      list.push_back(static_cast<segment::EventType>(event.type));
    }
    return list;
  }
  template <typename T>
  static T as(const segment::EventDetails& details) {
    T value;
    std::memcpy(&value, details.data(), sizeof value);
    return value;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<IdTracker> tracker_;
};

TEST_F(DetailedEvents, AnAllocationHasItsLabelAndItsSizes) {
  ttmem_buffer wanted = buffer(TTMEM_DRAM, 9, 64, 1000, 512);
  wanted.label = "wqkv";
  tracker_->buffer_alloc(3, wanted);
  tracker_->buffer_free(3, TTMEM_DRAM, 9);
  const segment::Events events = read(1);
  ASSERT_EQ(types(events), (std::vector{segment::EventType::alloc, segment::EventType::free}));
  const segment::EventRecord& alloc = events.events[0];
  EXPECT_EQ(alloc.number, 2U);
  EXPECT_EQ(alloc.bytes_per_bank, 512U);
  EXPECT_EQ(alloc.banks, 12U);
  EXPECT_EQ(alloc.slot, events.events[1].slot);
  EXPECT_EQ(events.events[1].number, 4U) << "the details are a record too";
  EXPECT_STREQ(as<segment::AllocationDetails>(events.details.at(0)).label, "wqkv");
}

TEST_F(DetailedEvents, AnAllocationDescribesItsPageLayout) {
  ttmem_buffer wanted = buffer(TTMEM_DRAM, 9, 64, 1000, 512);
  wanted.page_bytes = 4096;
  wanted.flags = TTMEM_BUFFER_INTERLEAVED | TTMEM_BUFFER_TOP_DOWN;
  tracker_->buffer_alloc(3, wanted);
  const ttmem_core_range banks{0, 0, 4, 0};
  ttmem_buffer shards = buffer(TTMEM_DRAM, 10, 64, 1000, 512);
  shards.cores = &banks;
  shards.core_ranges = 1;
  shards.page_bytes = 64;
  shards.flags = TTMEM_BUFFER_SHARDED | TTMEM_BUFFER_BOTTOM_UP;
  tracker_->buffer_alloc(3, shards);
  tracker_->buffer_alloc(3, buffer(TTMEM_DRAM, 11, 64, 1000, 512));
  ttmem_buffer impossible = buffer(TTMEM_DRAM, 12, 64, 1000, 512);
  impossible.page_bytes = ~std::uint64_t{0};
  tracker_->buffer_alloc(3, impossible);
  const segment::Events events = read(1);
  std::vector<BufferLayout> layouts;
  for (std::size_t i = 0; i < 4; ++i) {
    const segment::EventRecord& event = events.events.at(i);
    layouts.push_back(
        segment::buffer_layout(Kind::dram, event.role, event.flags,
                               as<segment::AllocationDetails>(events.details.at(i)).cores));
  }
  EXPECT_EQ(layouts[0], (BufferLayout{BufferLayout::Spread::interleaved,
                                      BufferLayout::Direction::top_down, 0, 4096}));
  EXPECT_EQ(layouts[1], (BufferLayout{BufferLayout::Spread::sharded,
                                      BufferLayout::Direction::bottom_up, 5, 64}));
  EXPECT_EQ(layouts[2], BufferLayout{});
  EXPECT_EQ(layouts[3], BufferLayout{}) << "a page that cannot be is unknown";
}

TEST_F(DetailedEvents, ALayoutComesOnceBeforeItsFirstProgram) {
  const ttmem_core_range core{0, 0, 0, 0};
  const ttmem_cb cbs[] = {{100, 64, &core, 1, 0}, {200, 64, &core, 1, 0}};
  tracker_->program_place(3, 7, cbs, "matmul");
  tracker_->program_place(3, 8, cbs);
  tracker_->program_dispatch(3, 8);
  tracker_->program_dispatch(3, 8);
  tracker_->trace_replay(3, std::vector<std::uint64_t>{7, 8});
  tracker_->program_destroy(7);
  const segment::Events events = read(1);
  using segment::EventType;
  ASSERT_EQ(types(events),
            (std::vector{EventType::footprint, EventType::program_place, EventType::program_place,
                         EventType::dispatch, EventType::dispatch, EventType::trace_replay,
                         EventType::program_destroy}));
  EXPECT_EQ(as<segment::CbRecord>(events.details.at(1)).address, 200U);
  EXPECT_EQ(events.events[1].address, events.events[0].id);
  EXPECT_EQ(events.events[2].address, events.events[0].id);
  EXPECT_EQ((as<std::array<std::uint64_t, 8>>(events.details.at(2))[1]), 8U);
  EXPECT_EQ(events.events[6].slot, events.events[1].slot);
}

TEST_F(DetailedEvents, ALateReaderLosesAllDetails) {
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    tracker_->buffer_alloc(3, buffer(TTMEM_DRAM, 1, 0, 1, 0));
    tracker_->buffer_free(3, TTMEM_DRAM, 1);
  }
  const segment::Events events = read(1);
  EXPECT_TRUE(events.events.empty());
  EXPECT_EQ(events.lost, 30'000U);
  EXPECT_EQ(events.newest, 30'001U);
  tracker_->buffer_alloc(3, buffer(TTMEM_DRAM, 1, 0, 1, 0));
  EXPECT_EQ(read(events.newest).events.size(), 1U);
}

TEST_F(DetailedEvents, ARingWithoutEnoughRoomIsSmaller) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 4 << 20, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  segment::SegmentWriter::Options options;
  const TemporaryDirectory directory;
  options.directory = directory.path();
  options.event_chunks = 1024;
  const auto started = IdTracker::start(options);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_TRUE(started) << started.error().message;
  segment::Header& header = (*started)->segment().header();
  EXPECT_EQ(header.event_capacity, 32U * 1024);
  EXPECT_EQ(header.last_error, 0);
}

}  // namespace
}  // namespace ttmem::tracker
