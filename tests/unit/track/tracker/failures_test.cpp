// SPDX-License-Identifier: Apache-2.0
//
// Tests the copy of the segment that a tracker saves when its program runs out of memory.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

#include "segment/reader/event_reader.hpp"
#include "segment/reader/segment_reader.hpp"
#include "support/device_calls.hpp"
#include "tracked.hpp"

namespace ttmem::tracker {
namespace {

using fixtures::buffer;
using fixtures::wormhole;

std::string copy_of(Tracked& tracked) { return tracked->segment().path() + ".failed"; }

segment::SegmentImage read(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  auto image = segment::read_segment(segment::FdSource(fd.get()));
  if (!image) throw std::runtime_error(path + ": " + image.error().message);
  return *image;
}

void hold(Tracked& tracked, std::uint64_t buffers) {
  tracked->device_open(wormhole(0));
  for (std::uint64_t id = 1; id <= buffers; ++id) {
    tracked->buffer_alloc(0, buffer(TTMEM_DRAM, id, id * 64, 12, 1));
  }
}

TEST(Failures, TheCopyHasTheHoldingsAtTheFailure) {
  Tracked tracked;
  hold(tracked, 1500);
  tracked->report_failure("Out of Memory: first\nsecond line");
  for (std::uint64_t id = 1; id <= 1500; ++id) tracked->buffer_free(0, TTMEM_DRAM, id);
  tracked->device_close(0);

  EXPECT_TRUE(tracked.read().allocations.empty());
  const auto kept = read(copy_of(tracked));
  EXPECT_EQ(kept.invalid_records, 0U);
  EXPECT_EQ(kept.allocations.size(), 1500U);
  EXPECT_EQ(kept.devices.at(0).kinds[Kind::dram].used_bytes, 1500U * 12);
  EXPECT_EQ(kept.failure.value().text, "Out of Memory: first\nsecond line");
  EXPECT_EQ(kept.failure->number, 1U);
  EXPECT_EQ(kept.failure->not_kept, 0U);
  EXPECT_EQ(tracked.read().failure.value().text, kept.failure->text);
}

TEST(Failures, TheCopyHasNoRoomForEventsAndTheModeOfTheSegment) {
  Tracked tracked;
  hold(tracked, 1);
  tracked->report_failure("no");
  struct stat segment {};
  struct stat copy {};
  ASSERT_EQ(::stat(tracked->segment().path().c_str(), &segment), 0);
  ASSERT_EQ(::stat(copy_of(tracked).c_str(), &copy), 0);
  EXPECT_EQ(copy.st_mode, segment.st_mode);
  EXPECT_EQ(copy.st_size, segment.st_size);
  EXPECT_LT(copy.st_blocks, segment.st_blocks);
}

TEST(Failures, ALaterFailureReplacesAnEarlierFailure) {
  Tracked tracked;
  hold(tracked, 1);
  tracked->report_failure("first");
  tracked->buffer_alloc(0, buffer(TTMEM_DRAM, 2, 4096, 12, 1));
  tracked->report_failure("second");
  const auto kept = read(copy_of(tracked));
  EXPECT_EQ(kept.failure.value().text, "second");
  EXPECT_EQ(kept.failure->number, 2U);
  EXPECT_EQ(kept.allocations.size(), 2U);
  tracked->forget_failure();
  EXPECT_FALSE(std::filesystem::exists(copy_of(tracked)));
}

// The program catches the error and throws a second error, whose text contains the text of the
// first error. Buffers are freed between the two errors.
TEST(Failures, ARethrownFailureIsTheSameFailure) {
  Tracked tracked;
  hold(tracked, 2);
  tracked->report_failure("no room");
  tracked->buffer_free(0, TTMEM_DRAM, 1);
  tracked->report_failure("while loading: no room");
  EXPECT_EQ(read(copy_of(tracked)).allocations.size(), 2U);
  EXPECT_EQ(tracked.read().failure.value().number, 1U);
  tracked->buffer_alloc(0, buffer(TTMEM_DRAM, 3, 8192, 12, 1));
  tracked->report_failure("no room");
  EXPECT_EQ(tracked.read().failure.value().number, 2U);
  tracked->program_place(0, 7, {});
  tracked->report_failure("no room");
  EXPECT_EQ(tracked.read().failure.value().number, 3U);
}

// The tracker cuts out the middle of a long text. Text in front of the message moves the cut, so
// the tracker compares failures by the first line of the message.
TEST(Failures, ARethrownLongFailureIsTheSameFailure) {
  Tracked tracked;
  hold(tracked, 2);
  const std::string text = "no room for 7\n" + std::string(5000, 'x');
  tracked->report_failure("while loading: " + text);
  tracked->report_failure(text);
  tracked->report_failure("\nat last: while loading: " + text);
  EXPECT_EQ(tracked.read().failure.value().number, 1U);
  tracked->report_failure("no room for 8\n" + std::string(5000, 'x'));
  EXPECT_EQ(tracked.read().failure.value().number, 2U);
}

TEST(Failures, ALongTextLosesItsMiddle) {
  Tracked tracked;
  tracked->report_failure("begin" + std::string(5000, 'x') + "end");
  const std::string text = tracked.read().failure.value().text;
  EXPECT_EQ(text.size(), 1024U);
  EXPECT_TRUE(text.starts_with("beginx") && text.ends_with("xend"));
}

// A write beyond the file size limit raises SIGXFSZ, which by default kills a process. Here the
// process survives, and the tracker counts the failure.
TEST(Failures, IsCountedWhenThereIsNoRoomForTheCopy) {
  const pid_t child = ::fork();
  if (child == 0) {
    Tracked tracked;
    hold(tracked, 1);
    tracked->report_failure("kept");
    hold(tracked, 2);
    const rlimit limit = {64 << 10, 64 << 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    tracked->report_failure("not kept");
    const auto now = tracked.read();
    const bool good = now.failure->text == "not kept" && now.failure->not_kept == 1 &&
                      now.failure->not_kept_error == EFBIG &&
                      read(copy_of(tracked)).failure->text == "kept";
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Failures, AnUnfinishedCopyIsWrittenAnew) {
  Tracked tracked;
  hold(tracked, 1);
  const std::string unfinished = copy_of(tracked) + ".new";
  UniqueFd(::open(unfinished.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  tracked->report_failure("no");
  EXPECT_FALSE(std::filesystem::exists(unfinished));
  EXPECT_EQ(read(copy_of(tracked)).failure.value().text, "no");
}

TEST(Failures, AFolderInPlaceOfTheCopyIsLeftAlone) {
  Tracked tracked;
  hold(tracked, 1);
  std::filesystem::create_directory(copy_of(tracked));
  tracked->report_failure("no");
  EXPECT_TRUE(std::filesystem::is_directory(copy_of(tracked)));
  EXPECT_FALSE(std::filesystem::exists(copy_of(tracked) + ".new"));
  EXPECT_EQ(tracked.read().failure.value().not_kept, 1U);
}

// The copy cannot be written, because there is a folder with the name of the copy.
TEST(Failures, AFolderInPlaceOfAnUnfinishedCopyIsLeftAlone) {
  Tracked tracked;
  hold(tracked, 1);
  const std::string unfinished = copy_of(tracked) + ".new";
  std::filesystem::create_directory(unfinished);
  tracked->report_failure("no");
  EXPECT_TRUE(std::filesystem::is_directory(unfinished));
  EXPECT_EQ(tracked.read().failure.value().not_kept_error, EEXIST);
}

TEST(Failures, TheErrorOfACopyBelongsToTheLastFailure) {
  Tracked tracked;
  hold(tracked, 1);
  std::filesystem::create_directory(copy_of(tracked));
  tracked->report_failure("first");
  EXPECT_NE(tracked.read().failure.value().not_kept_error, 0);
  std::filesystem::remove(copy_of(tracked));
  tracked->report_failure("second");
  const auto kept = read(copy_of(tracked));
  EXPECT_EQ(kept.failure.value().not_kept, 1U);
  EXPECT_EQ(kept.failure->not_kept_error, 0);
  EXPECT_EQ(tracked.read().failure.value().not_kept_error, 0);
}

// Tests with a process that ran out of memory and could not save the copy of its segment.
class WithoutACopy : public ::testing::Test {
 protected:
  WithoutACopy() : WithoutACopy(segment::SegmentWriter::Options{}) {}
  explicit WithoutACopy(segment::SegmentWriter::Options options) {
    options.directory = directory_.path();
    tracker_ = IdTracker::start(options).value();
    std::filesystem::create_directory(failed());
    tracker_->report_failure("no room");
    std::filesystem::remove(failed());
  }
  [[nodiscard]] std::string failed() const { return tracker_->segment().path() + ".failed"; }
  [[nodiscard]] std::size_t files() const {
    const std::filesystem::directory_iterator list(directory_.path());
    return static_cast<std::size_t>(std::distance(begin(list), end(list)));
  }

  TemporaryDirectory directory_;
  std::unique_ptr<IdTracker> tracker_;
};

TEST_F(WithoutACopy, LeavesItsSegmentInstead) {
  tracker_->segment().finish();
  EXPECT_EQ(files(), 1U);
  EXPECT_EQ(read(failed()).failure.value().text, "no room");
}

TEST_F(WithoutACopy, LeavesNothingWhenTheFailureIsForgotten) {
  tracker_->forget_failure();
  tracker_->segment().finish();
  EXPECT_EQ(files(), 0U);
}

TEST_F(WithoutACopy, LeavesNothingAfterDiscard) {
  tracker_->segment().discard();
  EXPECT_EQ(files(), 0U);
}

class WithoutACopyForAReader : public WithoutACopy {
 protected:
  WithoutACopyForAReader() : WithoutACopy(kept_for_us()) {}
  static segment::SegmentWriter::Options kept_for_us() {
    segment::SegmentWriter::Options options;
    options.kept_for = ::getpid();
    return options;
  }
};

TEST_F(WithoutACopyForAReader, LeavesTheSegmentForReaderAndFailure) {
  const std::string kept =
      tracker_->segment().path() + ".ended." + std::to_string(::getpid()) + ".0";
  tracker_->segment().finish();
  EXPECT_EQ(files(), 2U);
  EXPECT_EQ(read(failed()).failure.value().text, "no room");
  EXPECT_EQ(read(kept).failure.value().text, "no room");
}

TEST(Failures, AnEventTellsRecorders) {
  TemporaryDirectory directory;
  segment::SegmentWriter::Options options{directory.path()};
  options.event_details = true;
  auto tracker = IdTracker::start(options).value();
  const std::string said(100, 's');
  tracker->report_failure(said);
  const UniqueFd fd(::open(tracker->segment().path().c_str(), O_RDONLY | O_CLOEXEC));
  const auto events = segment::read_events(segment::FdSource(fd.get()), 0).value();
  ASSERT_EQ(events.events.size(), 1U);
  EXPECT_EQ(events.events[0].type, static_cast<std::uint8_t>(segment::EventType::failure));
  ASSERT_EQ(events.details.size(), 2U);
  EXPECT_EQ(read(tracker->segment().path() + ".failed").event_count, 0U) << "the copy was first";
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(events.details.data()), 100), said);
  tracker->segment().finish();
}

}  // namespace
}  // namespace ttmem::tracker
