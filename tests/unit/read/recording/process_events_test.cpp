// SPDX-License-Identifier: Apache-2.0
#include "read/recording/recorder/process_events.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "segment/reader/byte_source.hpp"
#include "support/segment_builder.hpp"

namespace ttmem::recording {
namespace {

// A process with a ring of events, and the events that a recorder reads from it.
class Recorded {
 public:
  explicit Recorded(Time begin) { events_.set_begin(begin); }

  // Fills the ring with the events that a process has written up to the event number `newest`. Then
  // reads the new events.
  void read_at(std::uint64_t newest) {
    segment_.fill_ring(newest);
    std::ranges::copy(segment_.bytes(), bytes_.begin());
    events_.drain();
  }

  // Returns the steps since the previous call. For example, "event 4" stands for the event with
  // number 4.
  [[nodiscard]] std::vector<std::string> steps() {
    std::vector<std::string> names;
    for (; const auto step = events_.next(); events_.advance()) {
      names.push_back(step->event != nullptr ? "event " + std::to_string(step->event->number)
                      : step->bridge->is_gap ? "gap"
                                             : "begin");
    }
    return names;
  }
  [[nodiscard]] std::uint64_t lost() const { return events_.lost(); }

 private:
  static std::vector<std::byte> bytes_without_events(testing::SegmentBuilder& segment) {
    segment.fill_ring(0);
    return segment.bytes();
  }

  testing::SegmentBuilder segment_;
  std::vector<std::byte> bytes_ = bytes_without_events(segment_);
  segment::MemorySource source_{bytes_};
  ProcessEvents events_{source_, 0};
};

using Steps = std::vector<std::string>;
constexpr Time kBeforeTheRecording = -1'000;

TEST(ProcessEvents, FirstEventsAfterAttachingAreKept) {
  Recorded process(kBeforeTheRecording);
  process.read_at(0);
  process.read_at(2);
  process.read_at(3);
  EXPECT_EQ(process.steps(), (Steps{"begin", "event 1", "event 2", "event 3"}));
  EXPECT_EQ(process.lost(), 0U);
}

TEST(ProcessEvents, EventsBeforeAttachingAreNeitherKeptNorLost) {
  Recorded process(kBeforeTheRecording);
  process.read_at(5000);
  process.read_at(5000);
  process.read_at(5001);
  EXPECT_EQ(process.steps(), (Steps{"begin", "event 5001"}));
  EXPECT_EQ(process.lost(), 0U);
}

TEST(ProcessEvents, FirstEventsThatTheRingLostAreAGap) {
  Recorded process(kBeforeTheRecording);
  process.read_at(0);
  process.read_at(5000);
  process.read_at(5001);
  EXPECT_EQ(process.steps(), (Steps{"begin", "gap", "event 5001"}));
  EXPECT_EQ(process.lost(), 5000U);
}

TEST(ProcessEvents, AProcessOfTheRecordingNeedsNoBridge) {
  Recorded process(0);
  process.read_at(0);
  process.read_at(2);
  EXPECT_EQ(process.steps(), (Steps{"event 1", "event 2"}));
}

}  // namespace
}  // namespace ttmem::recording
