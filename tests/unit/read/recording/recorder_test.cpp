// SPDX-License-Identifier: Apache-2.0
#include "read/recording/recorder/recorder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "read/recording/file/reader.hpp"
#include "support/device_calls.hpp"
#include "support/temporary_directory.hpp"
#include "track/tracker/id_tracker.hpp"

namespace ttmem::recording {
namespace {

using tracker::IdTracker;

// A recorder, and "processes" that this process tracks.
class RecorderOf : public ::testing::Test {
 protected:
  // Starts a process that has device 0 open, and that the recorder knows.
  std::unique_ptr<IdTracker> start() {
    auto process = IdTracker::start(segment::SegmentWriter::Options{directory_.path()}).value();
    process->device_open(fixtures::wormhole(0));
    recorder_.add(UniqueFd(::open(process->segment().path().c_str(), O_RDONLY | O_CLOEXEC)), 0);
    return process;
  }
  static void allocate(IdTracker& process, std::uint64_t id) {
    process.buffer_alloc(0, fixtures::buffer(TTMEM_DRAM, id, 4096 * id, 1024, 1024));
  }
  // Ends a process as SIGKILL does: the segment stays as it is.
  static void kill(std::unique_ptr<IdTracker> process) { process.reset(); }

  void look() { ASSERT_TRUE(recorder_.look(Recorder::Commit::now)); }
  [[nodiscard]] Time now() const { return time_of(CLOCK_MONOTONIC); }
  // Returns the time of the clock that dates buffers. It may be several milliseconds late.
  [[nodiscard]] Time coarse_now() const { return time_of(CLOCK_MONOTONIC_COARSE); }
  // Waits until the coarse clock has advanced.
  static void wait_for_tick() {
    const std::uint64_t before = clock_ns(CLOCK_MONOTONIC_COARSE);
    while (clock_ns(CLOCK_MONOTONIC_COARSE) == before) continue;
  }

  [[nodiscard]] std::unique_ptr<Reader> finish() {
    recording::Run run;
    EXPECT_TRUE(recorder_.finish(run));
    return Reader::open(path()).value();
  }

 private:
  [[nodiscard]] Time time_of(clockid_t clock) const {
    return static_cast<Time>(clock_ns(clock) - began_ns_);
  }
  [[nodiscard]] std::string path() const { return directory_.path() + "/run.recording"; }

  TemporaryDirectory directory_;
  std::uint64_t began_ns_ = clock_ns(CLOCK_MONOTONIC);
  std::unique_ptr<Writer> writer_ = Writer::create(path(), {}, false).value();
  Recorder recorder_{*writer_, began_ns_};
};

TEST_F(RecorderOf, EndsAProcessAtItsCleanExit) {
  auto process = start();
  allocate(*process, 1);
  look();
  wait_for_tick();
  const Time before = coarse_now();
  wait_for_tick();
  process->segment().finish();
  const Time after = now();
  wait_for_tick();
  const auto reader = finish();
  const RecordedProcess& row = reader->tables().process(1);
  ASSERT_TRUE(row.end_ns);
  EXPECT_GE(*row.end_ns, before);
  EXPECT_LE(*row.end_ns, after);
  EXPECT_EQ(reader->tables().device(1).end_ns, row.end_ns);
}

TEST_F(RecorderOf, EndsAKilledProcessWhenItWasSeenAliveLast) {
  auto process = start();
  allocate(*process, 1);
  wait_for_tick();
  const Time before = coarse_now();
  wait_for_tick();
  look();
  const Time seen = now();
  wait_for_tick();
  kill(std::move(process));
  const auto reader = finish();
  ASSERT_TRUE(reader->tables().process(1).end_ns);
  EXPECT_GE(*reader->tables().process(1).end_ns, before);
  EXPECT_LE(*reader->tables().process(1).end_ns, seen);
}

TEST_F(RecorderOf, EndsAKilledProcessAtItsLastEventIfTheRecorderIsLate) {
  auto process = start();
  look();
  wait_for_tick();
  const Time before = coarse_now();
  wait_for_tick();
  allocate(*process, 1);
  kill(std::move(process));
  const Time after = now();
  wait_for_tick();
  const auto reader = finish();
  ASSERT_TRUE(reader->tables().process(1).end_ns);
  EXPECT_GE(*reader->tables().process(1).end_ns, before);
  EXPECT_LE(*reader->tables().process(1).end_ns, after);
}

// A process holds a buffer until it ends, and a process that runs already then allocates a buffer.
// The recorder looks only afterwards.
TEST_F(RecorderOf, DoesNotAddTheMemoryOfAnEndedProcessToTheMemoryOfTheNext) {
  for (const bool is_clean : {true, false}) {
    auto first = start();
    auto second = start();
    allocate(*first, 1);
    look();
    wait_for_tick();
    if (is_clean) {
      first->segment().finish();
    } else {
      kill(std::move(first));
    }
    wait_for_tick();
    allocate(*second, 2);
    wait_for_tick();
    look();
    second->segment().finish();
    wait_for_tick();
  }
  int live = 0;
  int most = 0;
  ASSERT_TRUE(finish()->for_each_event([&](const Event& event) {
    if (event.type == Event::Type::allocate) most = std::max(most, ++live);
    if (event.type == Event::Type::free) --live;
    return true;
  }));
  EXPECT_EQ(most, 1);
  EXPECT_EQ(live, 0);
}

// The timeline is sorted, although the sample of an end is written later than samples of other
// processes.
TEST_F(RecorderOf, SamplesOfATimelineAreReadInOrder) {
  auto first = start();
  auto second = start();
  allocate(*first, 1);
  look();
  wait_for_tick();
  kill(std::move(first));
  wait_for_tick();
  allocate(*second, 2);
  look();
  const auto reader = finish();
  const auto& timeline = reader->tables().timeline;
  EXPECT_TRUE(std::is_sorted(timeline.begin(), timeline.end(),
                             [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; }));
  // A device has no memory in use after its end.
  std::map<RowId, std::uint64_t> used;
  for (const RecordedSample& sample : timeline) used[sample.device] = sample.used_bytes;
  EXPECT_EQ(used, (std::map<RowId, std::uint64_t>{{1, 0}, {2, 12288}}));
}

// Makes a process lose events: its ring has 4,096 records.
void lose_events(IdTracker& process) {
  for (int i = 0; i < 5000; ++i) {
    process.buffer_alloc(0, fixtures::buffer(TTMEM_DRAM, 99, 0, 1, 1));
    process.buffer_free(0, TTMEM_DRAM, 99);
  }
}

std::uint64_t highest_peak(const Tables& tables, RowId device) {
  std::uint64_t peak = 0;
  for (const RecordedSample& sample : tables.timeline) {
    if (sample.device == device) peak = std::max(peak, sample.peak_bytes);
  }
  return peak;
}

TEST_F(RecorderOf, KeepsThePeakOfADeviceThatWasOpenOnlyInAGap) {
  auto process = start();
  look();
  process->device_open(fixtures::wormhole(1));
  process->buffer_alloc(1, fixtures::buffer(TTMEM_DRAM, 1, 4096, 1024, 1024));
  process->device_close(1);
  lose_events(*process);
  look();
  const auto reader = finish();
  const Tables& tables = reader->tables();
  ASSERT_EQ(tables.devices.size(), 2U);
  EXPECT_EQ(tables.device(2).uid, 0x1001U);
  EXPECT_EQ(highest_peak(tables, 2), 12'288U);
  ASSERT_EQ(tables.gaps.size(), 1U);
  EXPECT_EQ(tables.device(2).end_ns, tables.gaps[0].begin_ns + 1);
}

TEST_F(RecorderOf, TellsADeviceThatWasOpenedAgainInAGapFromItsEarlierOpening) {
  auto process = start();
  look();
  wait_for_tick();
  wait_for_tick();
  for (std::uint64_t id = 1; id <= 3; ++id) allocate(*process, id);
  process->device_close(0);
  process->device_open(fixtures::wormhole(0));
  allocate(*process, 4);
  lose_events(*process);
  look();
  const auto reader = finish();
  const Tables& tables = reader->tables();
  ASSERT_EQ(tables.devices.size(), 2U);
  EXPECT_TRUE(tables.device(1).end_ns);
  EXPECT_EQ(highest_peak(tables, 1), 3 * 12'288U);
  EXPECT_LT(highest_peak(tables, 2), 3 * 12'288U);
}

TEST_F(RecorderOf, OpensADeviceOnceThatIsOpenDuringAGap) {
  auto process = start();
  allocate(*process, 1);
  look();
  lose_events(*process);
  allocate(*process, 2);
  look();
  const auto reader = finish();
  ASSERT_EQ(reader->tables().devices.size(), 1U);
  EXPECT_GE(highest_peak(reader->tables(), 1), 2 * 12'288U);
}

}  // namespace
}  // namespace ttmem::recording
