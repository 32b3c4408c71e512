// SPDX-License-Identifier: Apache-2.0
//
// Tests the segment file of a tracker: its start, growth, name and end.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "segment/reader/segment_reader.hpp"
#include "support/device_calls.hpp"
#include "support/temporary_directory.hpp"
#include "track/tracker/id_tracker.hpp"
#include "tracked.hpp"

namespace ttmem::tracker {
namespace {

using fixtures::buffer;
using fixtures::wormhole;

TEST(SegmentFile, ListsEveryAllocationOfManyAfterGrowing) {
  Tracked tracked;
  tracked->device_open(wormhole(0));
  for (std::uint64_t id = 1; id <= 20000; ++id) {
    tracked->buffer_alloc(0, buffer(TTMEM_DRAM, id, id * 64, 12, 1));
  }
  EXPECT_EQ(tracked.read().allocations.size(), 20000U);
  for (std::uint64_t id = 1; id <= 20000; id += 2) tracked->buffer_free(0, TTMEM_DRAM, id);
  const auto image = tracked.read();
  EXPECT_EQ(image.allocations.size(), 10000U);
  EXPECT_EQ(image.devices[0].kinds[Kind::dram].used_bytes, 10000U * 12);
}

// A write beyond the file size limit raises SIGXFSZ, which by default kills a process. Here the
// figures stay exact, and the segment marks its list as incomplete.
TEST(SegmentFile, KeepsCountingWhenTheFileCannotGrow) {
  const pid_t child = ::fork();
  if (child == 0) {
    Tracked tracked;
    tracked->device_open(wormhole(0));
    const rlimit limit = {800 << 10, 800 << 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    for (std::uint64_t id = 1; id <= 20000; ++id) {
      tracked->buffer_alloc(0, buffer(TTMEM_DRAM, id, id * 64, 12, 1));
    }
    const auto image = tracked.read();
    const bool good = image.devices[0].kinds[Kind::dram].used_bytes == 20000U * 12 &&
                      image.dropped_allocations > 0 &&
                      image.dropped_allocations + image.allocations.size() == 20000U &&
                      image.last_error == EFBIG;
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(SegmentFile, SaysWhyItCannotStart) {
  const auto started = Tracker::start({"/nowhere/at/all"});
  ASSERT_FALSE(started);
  const std::string& error = started.error().message;
  EXPECT_NE(error.find("/nowhere/at/all/ttmem."), std::string::npos);
  EXPECT_NE(error.find("No such file or directory"), std::string::npos);
}

TEST(SegmentFile, HoldsTheLockUntilItEndsAndFinishRemovesTheFile) {
  TemporaryDirectory directory;
  auto tracker = Tracker::start({directory.path()}).value();
  const std::string path = tracker->process.segment().path();
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_NE(::flock(fd.get(), LOCK_SH | LOCK_NB), 0);
  tracker->process.segment().finish();
  EXPECT_NE(::stat(path.c_str(), &status), 0);
  tracker.reset();
  EXPECT_EQ(::flock(fd.get(), LOCK_SH | LOCK_NB), 0);
}

// The trackers have the same pid and start time, as processes in different pid namespaces can have.
TEST(SegmentFile, TheSecondSegmentOfTheSameNameGetsANumber) {
  TemporaryDirectory directory;
  const auto first = IdTracker::start({directory.path()});
  const auto second = IdTracker::start({directory.path()});
  ASSERT_TRUE(first && second);
  const std::string path = (*first)->segment().path();
  EXPECT_EQ((*second)->segment().path(), path + ".1");
  const auto third = IdTracker::start({directory.path()});
  ASSERT_TRUE(third);
  EXPECT_EQ((*third)->segment().path(), path + ".2");
}

// A tracker removes the segment that the same process had before exec. It keeps a segment of a
// process in another pid namespace.
TEST(SegmentFile, RemovesASegmentOfItsNameOnlyIfItIsItsOwn) {
  TemporaryDirectory directory;
  std::string path;
  {
    const auto before_exec = IdTracker::start({directory.path()});
    ASSERT_TRUE(before_exec);
    path = (*before_exec)->segment().path();
  }
  const auto again = IdTracker::start({directory.path()});
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->segment().path(), path);
  (*again)->segment().finish();
  {
    const auto other = IdTracker::start({directory.path()});
    ASSERT_TRUE(other);
    const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    const std::uint32_t elsewhere = 1;
    ASSERT_EQ(
        ::pwrite(fd.get(), &elsewhere, sizeof elsewhere, offsetof(segment::Header, pid_namespace)),
        ssize_t{sizeof elsewhere});
  }
  const auto last = IdTracker::start({directory.path()});
  ASSERT_TRUE(last);
  EXPECT_EQ((*last)->segment().path(), path + ".1");
  EXPECT_EQ(::access(path.c_str(), F_OK), 0) << "evidence of another process";
}

TEST(SegmentFile, CanWriteASegmentForAnotherProcess) {
  TemporaryDirectory directory;
  segment::SegmentWriter::Options options;
  options.directory = directory.path();
  options.event_chunks = 1;
  options.for_client = {4711, 88123, 0, "model", "./model --fast"};
  const auto started = IdTracker::start(options);
  ASSERT_TRUE(started) << started.error().message;
  IdTracker* const tracker = started->get();
  const std::string& path = tracker->segment().path();
  EXPECT_TRUE(path.ends_with(".4711.88123.socket")) << path;
  const ttmem_buffer one = buffer(TTMEM_DRAM, 1, 4096, 1000, 0);
  tracker->buffer_alloc(0, one);
  tracker->cb_alloc(0, 1, 500);
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto image = segment::read_segment(segment::FdSource(fd.get())).value();
  EXPECT_EQ(image.pid, 4711);
  EXPECT_EQ(image.start_time_ticks, 88123U);
  EXPECT_EQ(image.command, "./model --fast");
  ASSERT_EQ(image.devices.size(), 1U);
  EXPECT_EQ(image.devices[0].kinds[Kind::dram].used_bytes, 1000U);
  EXPECT_FALSE(image.devices[0].cb_resident_known);
  EXPECT_EQ(image.allocations.size(), 2U);
  // The file has only a header and the chunks for events, devices and allocations. It must be
  // small, because a server may keep a thousand clients.
  struct stat status {};
  ASSERT_EQ(::fstat(fd.get(), &status), 0);
  EXPECT_EQ(status.st_size, segment::kHeaderBytes + 3 * segment::kChunkBytes);
}

// If no pid namespace is given for the reader, the reader's pid belongs to the namespace of this
// process.
TEST(SegmentFile, IsKeptForAReaderThatRunsAlone) {
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(gone, nullptr, 0), gone);
  for (const pid_t reader : {gone, ::getpid()}) {
    TemporaryDirectory directory;
    segment::SegmentWriter::Options options{directory.path()};
    options.kept_for = reader;
    Tracker::start(options).value()->process.segment().finish();
    EXPECT_EQ(std::filesystem::is_empty(directory.path()), reader == gone);
  }
}

}  // namespace
}  // namespace ttmem::tracker
