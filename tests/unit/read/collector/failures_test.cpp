// SPDX-License-Identifier: Apache-2.0
#include "read/collector/failures.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "read/collector/collector.hpp"
#include "support/device_calls.hpp"
#include "support/temporary_directory.hpp"
#include "track/tracker/id_tracker.hpp"

namespace ttmem::collector {
namespace {

using tracker::IdTracker;
using ttmem::fixtures::buffer;
using ttmem::fixtures::wormhole;

class FailuresOf : public ::testing::Test {
 protected:
  // Returns a tracker that ran out of memory while it held one buffer. The tracker has freed the
  // buffer since.
  std::unique_ptr<IdTracker> failed(const std::string& text, const std::string& run = "") {
    segment::SegmentWriter::Options options{directory_.path()};
    options.run = run;
    auto process = IdTracker::start(options).value();
    process->device_open(wormhole(0));
    process->buffer_alloc(0, buffer(TTMEM_DRAM, 1, 4096, 12, 1));
    process->report_failure(text);
    process->buffer_free(0, TTMEM_DRAM, 1);
    return process;
  }
  [[nodiscard]] Failures found() const { return failures(directory_.path()); }

  TemporaryDirectory directory_;
};

TEST_F(FailuresOf, HaveTheStateOfTheirMomentAlsoAfterTheEndOfTheProcess) {
  auto process = failed("no room", "run 7");
  ASSERT_EQ(found().list.size(), 1U);
  EXPECT_TRUE(found().list[0].is_alive);
  process->segment().finish();
  const Failures after = found();
  ASSERT_EQ(after.list.size(), 1U);
  EXPECT_TRUE(after.warnings.empty());
  const Failure& failure = after.list[0];
  EXPECT_FALSE(failure.is_alive);
  EXPECT_EQ(failure.text, "no room");
  EXPECT_EQ(failure.run, "run 7");
  EXPECT_EQ(failure.pid, ::getpid());
  EXPECT_EQ(failure.not_kept, "");
  ASSERT_EQ(failure.snapshot.devices.size(), 1U);
  EXPECT_EQ(failure.snapshot.devices[0].used(Kind::dram), 12U);
  EXPECT_EQ(failure.snapshot.allocations.size(), 1U);
  EXPECT_EQ(failure.snapshot.time_unix_ns, failure.time_unix_ns);
}

TEST_F(FailuresOf, AreNotShownInOrdinaryViews) {
  const auto process = failed("no room");
  EXPECT_EQ(collect(directory_.path()).devices.at(0).used(Kind::dram), 0U);
  process->segment().finish();
  const model::Snapshot now = collect(directory_.path());
  EXPECT_TRUE(now.devices.empty());
  EXPECT_TRUE(now.warnings.empty());
  EXPECT_TRUE(find_dead(directory_.path()).segments.empty());
}

TEST_F(FailuresOf, AreSortedByTime) {
  const auto first = failed("first");
  const auto second = failed("second");
  ASSERT_EQ(found().list.size(), 2U);
  EXPECT_EQ(found().list[0].text, "second");
}

TEST_F(FailuresOf, SayWhyTheStateCouldNotBeSaved) {
  segment::SegmentWriter::Options options{directory_.path()};
  auto process = IdTracker::start(options).value();
  std::filesystem::create_directory(process->segment().path() + ".failed");
  process->report_failure("no room");
  const Failures now = found();
  ASSERT_EQ(now.list.size(), 1U);
  EXPECT_NE(now.list[0].not_kept, "");
  EXPECT_EQ(now.warnings.size(), 1U);  // a warning that the directory is not a saved state
}

// A state was saved for an earlier failure, but not for the last failure.
TEST_F(FailuresOf, ShowTheLastFailureWhenOnlyAnEarlierStateWasSaved) {
  const auto process = failed("earlier");
  const std::string copy = process->segment().path() + ".failed";
  std::filesystem::rename(copy, copy + ".aside");
  std::filesystem::create_directory(copy);
  process->report_failure("later");
  std::filesystem::remove(copy);
  std::filesystem::rename(copy + ".aside", copy);
  const Failures now = found();
  ASSERT_EQ(now.list.size(), 1U);
  EXPECT_EQ(now.list[0].text, "later");
  EXPECT_NE(now.list[0].not_kept.find("could not be kept"), std::string::npos);
}

TEST_F(FailuresOf, StayListedAfterTheEndOfTheProcessWithoutASavedState) {
  segment::SegmentWriter::Options options{directory_.path()};
  auto process = IdTracker::start(options).value();
  const std::string copy = process->segment().path() + ".failed";
  std::filesystem::create_directory(copy);
  process->report_failure("no room");
  std::filesystem::remove(copy);
  process->segment().finish();
  process.reset();  // releases the lock, which the mapping of the segment holds
  const Failures now = found();
  ASSERT_EQ(now.list.size(), 1U);
  EXPECT_EQ(now.list[0].text, "no room");
  EXPECT_NE(now.list[0].not_kept, "");
  EXPECT_EQ(reap(directory_.path(), find_failed(directory_.path()).segments).removed, 1U);
}

TEST_F(FailuresOf, SayThatTheSavedStateWasRemoved) {
  const auto process = failed("no room");
  std::filesystem::remove(process->segment().path() + ".failed");
  ASSERT_EQ(found().list.size(), 1U);
  EXPECT_EQ(found().list[0].not_kept, "of the state of that moment there is no copy");
}

TEST_F(FailuresOf, AreNotTakenFromForgedFiles) {
  std::ofstream(directory_.path() + "/ttmem.0.1.2.failed") << "anything";
  std::filesystem::create_symlink("/etc/passwd", directory_.path() + "/ttmem.0.1.3.failed");
  const auto process = failed("mine");
  const std::string path = process->segment().path();
  std::filesystem::copy_file(path + ".failed", directory_.path() + "/ttmem.0.1.4.failed");
  std::filesystem::copy_file(path + ".failed", directory_.path() + "/ttmem.0.1.5.failed.new");
  const Failures now = found();
  ASSERT_EQ(now.list.size(), 1U);
  EXPECT_EQ(now.list[0].text, "mine");
  EXPECT_EQ(now.warnings.size(), 3U);
}

TEST_F(FailuresOf, AreRemovedOnceTheirProcessIsGone) {
  auto process = failed("no room");
  const std::string copy = process->segment().path() + ".failed";
  EXPECT_TRUE(find_failed(directory_.path()).segments.empty());
  process->segment().finish();
  const DeadSegments dead = find_failed(directory_.path());
  ASSERT_EQ(dead.segments.size(), 1U);
  EXPECT_EQ(dead.segments[0].failure, "no room");
  EXPECT_EQ(reap(directory_.path(), dead.segments).removed, 1U);
  EXPECT_FALSE(std::filesystem::exists(copy));
}

// The failure is not removed, because the process may still be alive.
TEST_F(FailuresOf, StayWhileTheSegmentCannotBeOpened) {
  auto process = failed("no room");
  const std::string segment = process->segment().path();
  process->segment().finish();
  const DeadSegments dead = find_failed(directory_.path());
  ASSERT_EQ(dead.segments.size(), 1U);
  std::filesystem::create_directory(segment);
  EXPECT_TRUE(find_failed(directory_.path()).segments.empty());
  EXPECT_EQ(reap(directory_.path(), dead.segments).removed, 0U);
  EXPECT_TRUE(std::filesystem::exists(segment + ".failed"));
}

}  // namespace
}  // namespace ttmem::collector
