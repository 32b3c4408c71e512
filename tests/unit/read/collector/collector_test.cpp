// SPDX-License-Identifier: Apache-2.0
#include "read/collector/collector.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>

#include "base/clock.hpp"
#include "base/unique_fd.hpp"
#include "read/collector/gather.hpp"
#include "read/collector/lock_holders.hpp"
#include "read/collector/process_info.hpp"
#include "read/collector/run_id.hpp"
#include "read/collector/segment_files.hpp"
#include "read/collector/untracked_marks.hpp"
#include "segment/layout/layout.hpp"
#include "segment/reader/run_ids.hpp"
#include "support/segment_builder.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::collector {
namespace {

using model::Snapshot;
using model::State;
using testing::SegmentBuilder;

constexpr uid_t kNobody = 65534;
constexpr std::int32_t kNoPid = 0x7ffffff0;

// A child process that holds the lock of a file, as a tracked process does. The lock is held until
// the child is killed.
class LockHolder {
 public:
  explicit LockHolder(const std::string& path) {
    int ready[2];
    if (::pipe(ready) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::alarm(60);  // ends the child even if the test does not kill it
      const int fd = ::open(path.c_str(), O_RDWR);
      const bool locked = fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) == 0;
      const char answer = locked ? 'y' : 'n';
      if (::write(ready[1], &answer, 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    char answer = 'n';
    EXPECT_EQ(::read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y') << path;
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~LockHolder() { kill(); }

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

bool mentions(const std::vector<std::string>& warnings, const std::string& text) {
  return std::any_of(warnings.begin(), warnings.end(), [&](const std::string& warning) {
    return warning.find(text) != std::string::npos;
  });
}

// Returns a TT-Metal region with one row.
std::vector<std::byte> region(std::int32_t pid, std::uint64_t updated_unix_ns) {
  std::vector<std::byte> bytes(8576);
  const auto put = [&](std::size_t at, auto value) {
    std::memcpy(bytes.data() + at, &value, sizeof(value));
  };
  put(0, std::uint32_t{3});
  put(32, std::uint64_t{0xb});
  put(856, pid);
  put(864, std::uint64_t{1310720});
  put(904, updated_unix_ns);
  return bytes;
}

class CollectorTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return directory_ + "/" + name; }

  std::string write(const std::string& name, const std::vector<std::byte>& bytes) const {
    std::ofstream(path(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }

  // Writes a segment under the name that its header gives.
  std::string write(SegmentBuilder builder) const {
    const segment::Header& header = builder.header();
    return write(fmt::format("ttmem.{}.{}.{}", header.uid, header.pid, header.start_time_ticks),
                 builder.bytes());
  }

  // Returns a segment whose owner is this user and whose header names a pid that no process has.
  static SegmentBuilder segment(std::uint64_t start_time_ticks = 1) {
    SegmentBuilder builder;
    builder.header().uid = ::getuid();
    builder.header().pid = kNoPid;
    builder.header().start_time_ticks = start_time_ticks;
    builder.add_device(0, 0xa).figures.kinds[Kind::dram].used_bytes = 4096;
    return builder;
  }

  // Returns segment() with the pid and the start time of a running process.
  static SegmentBuilder segment_of(pid_t pid) {
    SegmentBuilder builder = segment();
    builder.header().pid = pid;
    builder.header().start_time_ticks = process_facts(pid).value().start_time_ticks;
    return builder;
  }

  // Sets the modification time of a file to `seconds` before now.
  static void age(const std::string& path, time_t seconds) {
    struct timespec times[2];
    ::clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= seconds;
    times[1] = times[0];
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }

  const TemporaryDirectory temporary_;
  const std::string& directory_ = temporary_.path();
};

TEST_F(CollectorTest, AnEmptyDirectoryIsAnEmptySnapshot) {
  const Snapshot snapshot = collect(directory_);
  EXPECT_TRUE(snapshot.devices.empty());
  EXPECT_TRUE(snapshot.warnings.empty());
  EXPECT_FALSE(snapshot.host.empty());
  EXPECT_GT(snapshot.time_unix_ns, 0u);
}

TEST_F(CollectorTest, AMissingDirectoryIsAWarningWithTheNextStep) {
  const Snapshot snapshot = collect(path("nowhere"));
  ASSERT_EQ(snapshot.warnings.size(), 1u);
  EXPECT_TRUE(mentions(snapshot.warnings, "nowhere: No such file or directory; set TTMEM_DIR"));
}

TEST_F(CollectorTest, AnOwnerIsAliveWhileItHoldsTheLockAndDeadOnceItIsKilled) {
  LockHolder owner(write(segment()));
  const Snapshot alive = collect(directory_);
  ASSERT_EQ(alive.devices.size(), 1u);
  EXPECT_EQ(alive.devices[0].processes.at(0).state, State::alive);
  EXPECT_EQ(alive.devices[0].processes.at(0).pid, kNoPid);
  EXPECT_EQ(alive.devices[0].used(Kind::dram), 4096u);
  owner.kill();
  const Snapshot dead = collect(directory_);
  ASSERT_EQ(dead.devices.size(), 1u);
  EXPECT_EQ(dead.devices[0].processes.at(0).state, State::dead);
  EXPECT_EQ(dead.devices[0].processes.at(0).used(Kind::dram), 4096u);
  EXPECT_FALSE(dead.devices[0].used(Kind::dram).has_value());
}

TEST_F(CollectorTest, AnOwnerInAnotherPidNamespaceIsAlive) {
  const LockHolder owner(write(segment()));  // the pid in the header belongs to no process here
  EXPECT_EQ(collect(directory_).devices.at(0).processes.at(0).state, State::alive);
}

// A process in a container may have the pid of this process. Only their start times differ.
TEST_F(CollectorTest, ASegmentWithOurPidIsShownAndHidesOurRowOnlyWhenItIsOfThisProcess) {
  write("tt_device_11_memory", region(::getpid(), clock_ns(CLOCK_REALTIME)));
  for (const bool ours : {true, false}) {
    SegmentBuilder builder = segment_of(::getpid());
    builder.device(0).uid = 0xb;
    if (!ours) builder.header().start_time_ticks += 1;
    const std::string file = write(builder);
    const LockHolder owner(file);
    const Snapshot snapshot = collect(directory_);
    ASSERT_EQ(snapshot.devices.size(), 1u);
    EXPECT_TRUE(snapshot.warnings.empty());
    EXPECT_EQ(snapshot.devices[0].processes.size(), ours ? 1u : 2u);
    EXPECT_EQ(snapshot.devices[0].used(Kind::dram), ours ? 4096u : 4096u + 1310720u);
    for (const model::Process& process : snapshot.devices[0].processes) {
      EXPECT_EQ(process.state, State::alive);
    }
    std::filesystem::remove(file);
  }
}

TEST_F(CollectorTest, ASegmentOfAnotherBootIsDead) {
  SegmentBuilder builder = segment();
  builder.header().boot_id[3] = 1;
  const LockHolder owner(write(builder));
  EXPECT_EQ(collect(directory_).devices.at(0).processes.at(0).state, State::dead);
}

TEST_F(CollectorTest, AFileOfAnotherUserThatClaimsAForeignPidIsLeftOut) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root, to give a file away";
  SegmentBuilder builder = segment_of(::getpid());
  builder.header().uid = kNobody;
  const std::string file = write(builder);
  const LockHolder owner(file);
  ASSERT_EQ(::chown(file.c_str(), kNobody, kNobody), 0);
  const Snapshot snapshot = collect(directory_);
  EXPECT_TRUE(snapshot.devices.empty());
  ASSERT_EQ(snapshot.warnings.size(), 1u);
  EXPECT_TRUE(mentions(snapshot.warnings, file));
  EXPECT_TRUE(mentions(snapshot.warnings, user_name(kNobody)));
  EXPECT_TRUE(mentions(snapshot.warnings, fmt::format("process {}", ::getpid())));
}

TEST_F(CollectorTest, AFileWhoseHeaderNamesAnotherUserIsLeftOut) {
  SegmentBuilder builder = segment();
  builder.header().uid = ::getuid() + 1;
  write(builder);
  const Snapshot snapshot = collect(directory_);
  EXPECT_TRUE(snapshot.devices.empty());
  EXPECT_TRUE(mentions(snapshot.warnings, "as its user"));
}

TEST_F(CollectorTest, AFileWhoseNameDiffersFromItsHeaderIsLeftOut) {
  const unsigned uid = ::getuid();
  for (const std::string& name :
       {fmt::format("ttmem.{}.{}.1", uid + 1, kNoPid), fmt::format("ttmem.{}.1.1", uid),
        fmt::format("ttmem.{}.{}.2", uid, kNoPid)}) {
    const std::string file = write(name, segment().bytes());
    const Snapshot snapshot = collect(directory_);
    EXPECT_TRUE(snapshot.devices.empty()) << name;
    EXPECT_TRUE(mentions(snapshot.warnings, file)) << name;
    std::filesystem::remove(file);
  }
}

TEST_F(CollectorTest, SpecialFilesNeitherBlockNorCrash) {
  ASSERT_EQ(::mkfifo(path("ttmem.0.1.1").c_str(), 0600), 0);
  ASSERT_EQ(::mkdir(path("ttmem.0.2.1").c_str(), 0700), 0);
  write("elsewhere", segment().bytes());
  ASSERT_EQ(::symlink("elsewhere", path("ttmem.0.3.1").c_str()), 0);
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  struct sockaddr_un address {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path("ttmem.0.4.1").c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::mkfifo(path("tt_device_7_memory").c_str(), 0600), 0);
  const Snapshot snapshot = collect(directory_);
  EXPECT_TRUE(snapshot.devices.empty());
  EXPECT_EQ(snapshot.warnings.size(), 5u);
  EXPECT_TRUE(mentions(snapshot.warnings, "ttmem.0.1.1: it is a FIFO"));
  EXPECT_TRUE(mentions(snapshot.warnings, "ttmem.0.2.1: it is a directory"));
  EXPECT_TRUE(mentions(snapshot.warnings, "ttmem.0.3.1: it is a symbolic link"));
  EXPECT_TRUE(mentions(snapshot.warnings, "ttmem.0.4.1: it is a socket"));
  EXPECT_TRUE(mentions(snapshot.warnings, "tt_device_7_memory: it is a FIFO"));
}

TEST_F(CollectorTest, ASegmentForAClientCountsWhileItsServerLives) {
  const SegmentBuilder proxy = segment();
  LockHolder server(write(fmt::format("ttmem.{}.{}.1.socket", ::getuid(), kNoPid), proxy.bytes()));
  EXPECT_EQ(collect(directory_).devices.at(0).used(Kind::dram), 4096u);
  EXPECT_TRUE(find_abandoned(directory_).segments.empty());
  server.kill();
  const Snapshot snapshot = collect(directory_);
  EXPECT_TRUE(snapshot.devices.empty());
  ASSERT_EQ(snapshot.warnings.size(), 1u);
  EXPECT_TRUE(mentions(snapshot.warnings, "the server that wrote for its clients is gone"));
  // The segment is not listed as dead, because the client may still run.
  EXPECT_TRUE(find_dead(directory_).segments.empty());
  const DeadSegments abandoned = find_abandoned(directory_);
  ASSERT_EQ(abandoned.segments.size(), 1u);
  EXPECT_EQ(reap(directory_, abandoned.segments).removed, 1u);
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(CollectorTest, ANumberDistinguishesSegmentsWithTheSamePidAndStartTime) {
  EXPECT_EQ(parse_segment_name("ttmem.1.2.3.4"), (SegmentName{1, 2, 3, 4, false}));
  EXPECT_EQ(parse_segment_name("ttmem.1.2.3.4.socket"), (SegmentName{1, 2, 3, 4, true}));
  for (const char* end : {"", ".1", ".2"}) {
    write(fmt::format("ttmem.{}.{}.1{}", ::getuid(), kNoPid, end), segment().bytes());
  }
  const Snapshot snapshot = collect(directory_);
  EXPECT_TRUE(snapshot.warnings.empty());
  std::set<std::uint64_t> files;
  for (const model::Process& process : snapshot.devices.at(0).processes) {
    files.insert(process.segment);
  }
  EXPECT_EQ(files.size(), 3u);
  for (const model::Allocation& allocation : snapshot.allocations) {
    EXPECT_TRUE(files.contains(allocation.segment));
  }
}

TEST_F(CollectorTest, APidOfAnotherNamespaceIsFoundByTheHolderOfTheLock) {
  SegmentBuilder container = segment();
  container.header().pid = ::getpid();  // in the container's pid namespace, not in this namespace
  container.header().pid_namespace = own_pid_namespace() + 1;
  const auto name =
      fmt::format("ttmem.{}.{}.{}", ::getuid(), ::getpid(), container.header().start_time_ticks);
  LockHolder holder(write(name, container.bytes()));
  const Evidence evidence = gather(directory_);
  ASSERT_EQ(evidence.segments.size(), 1u);
  EXPECT_TRUE(evidence.segments[0].foreign_pid);
  EXPECT_EQ(evidence.segments[0].host_pid, holder.pid());
  holder.kill();
  const Evidence later = gather(directory_);
  ASSERT_EQ(later.segments.size(), 1u);
  EXPECT_TRUE(later.segments[0].foreign_pid);
  EXPECT_EQ(later.segments[0].host_pid, std::nullopt);
}

TEST(LockHolders, FindsWhoHoldsAFileExclusively) {
  constexpr std::string_view locks =
      "1: POSIX  ADVISORY  WRITE 11 00:1a:77 0 EOF\n"
      "2: FLOCK  ADVISORY  READ 12 00:1a:77 0 EOF\n"
      "3: FLOCK  ADVISORY  WRITE 13 fe:101:77 0 EOF\n"
      "4: FLOCK  ADVISORY  WRITE 14 00:1a:77 0 EOF\n"
      "4: -> FLOCK  ADVISORY  WRITE 15 00:1a:78 0 EOF\n"
      "5: FLOCK  ADVISORY  WRITE";
  EXPECT_EQ(parse_lock_holder(locks, makedev(0, 0x1a), 77), 14);
  EXPECT_EQ(parse_lock_holder(locks, makedev(0xfe, 0x101), 77), 13);
  EXPECT_EQ(parse_lock_holder(locks, makedev(0, 0x1a), 78), std::nullopt) << "it waits";
  EXPECT_EQ(parse_lock_holder("", makedev(0, 0x1a), 77), std::nullopt);
}

TEST_F(CollectorTest, ASegmentKeptForAReaderIsDeadOnceTheReaderIsGone) {
  const std::string segment_name = fmt::format("ttmem.{}.{}.1", ::getuid(), kNoPid);
  const auto write_kept = [&](std::int32_t reader, std::uint32_t space) {
    const std::string name = fmt::format("{}.ended.{}.{}", segment_name, reader, space);
    write(name, segment().bytes());
    return directory_ + "/" + name;
  };
  write_kept(::getpid(), own_pid_namespace());
  write_kept(kNoPid, own_pid_namespace() + 1);  // the reader may still run in another container
  const std::string gone = write_kept(kNoPid, own_pid_namespace());
  const std::string gone_too = write_kept(kNoPid, 0);
  const DeadSegments kept = find_kept(directory_);
  ASSERT_EQ(kept.segments.size(), 2u);
  EXPECT_EQ(kept.segments[0].path, gone_too);
  EXPECT_EQ(kept.segments[1].path, gone);
  EXPECT_TRUE(find_dead(directory_).segments.empty());
  EXPECT_TRUE(collect(directory_).devices.empty());
  EXPECT_EQ(reap(directory_, kept.segments).removed, 2u);
  EXPECT_TRUE(find_kept(directory_).segments.empty());
}

// The constructor sets an environment variable, and the destructor removes the variable.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST_F(CollectorTest, ARunIdComesBeforeTheIdsOfOuterRuns) {
  const Variable outer("TTMEM_RUN", "outer");
  const std::string id = name_this_run(RunRole::reads);
  EXPECT_EQ(segment::split_run_ids(::getenv("TTMEM_RUN")), (std::vector<std::string>{id, "outer"}));
  EXPECT_LT(id.size(), sizeof segment::FailureRecord::run);
  EXPECT_TRUE(is_reader_id(id));
  EXPECT_EQ(owner_of_run(id), Owner::alive);
  EXPECT_FALSE(is_reader_id(name_this_run(RunRole::starts)));
}

TEST_F(CollectorTest, TheOwnerOfARunIsFoundByPidNamespaceAndStartTime) {
  const std::uint32_t here = own_pid_namespace();
  const std::uint64_t start = process_facts(::getpid())->start_time_ticks;
  EXPECT_EQ(owner_of_run(fmt::format("{}.{}.{}.0.r", ::getpid(), here, start)), Owner::alive);
  EXPECT_EQ(owner_of_run(fmt::format("{}.{}.{}.0.r", ::getpid(), here, start + 1)), Owner::gone);
  EXPECT_EQ(owner_of_run(fmt::format("{}.{}.{}.0.r", kNoPid, here, start)), Owner::gone);
  EXPECT_EQ(owner_of_run(fmt::format("{}.{}.{}.0.r", ::getpid(), here + 1, start)), Owner::unknown);
  for (const char* text : {"", ".", "x", "1", "1.2", "1.2.x.r", "99999999999.1.1.r"}) {
    EXPECT_EQ(owner_of_run(text), Owner::unknown) << text;
  }
}

TEST_F(CollectorTest, ASegmentThatARunningRecorderMayStillReadIsNotCleaned) {
  const Variable outer("TTMEM_RUN", "outer");
  const std::string id = name_this_run(RunRole::reads);
  const auto write_of_run = [&](const std::string& ids) {
    auto bytes = segment().bytes();
    std::memcpy(bytes.data() + segment::kRunOffset, ids.c_str(), ids.size() + 1);
    write(fmt::format("ttmem.{}.{}.1", ::getuid(), kNoPid), bytes);
  };
  write_of_run("inner," + id + ",outer");
  EXPECT_TRUE(find_dead(directory_).segments.empty());
  write_of_run("inner,outer");
  EXPECT_EQ(find_dead(directory_).segments.size(), 1U);
}

TEST_F(CollectorTest, NamesOfUntrackedFilesAreParsed) {
  const auto name = parse_untracked_name("ttmem.1.2.3.4.untracked.28.5");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->process, (SegmentName{.uid = 1, .pid = 2, .start_time_ticks = 3, .number = 4}));
  EXPECT_EQ(name->error, 28);
  EXPECT_EQ(name->pid_namespace, 5U);
  for (const char* other :
       {"ttmem.1.2.3.untracked.", "ttmem.1.2.3.untracked.28", "ttmem.1.2.3.untracked.28.",
        "ttmem.1.2.3.untracked.0.1", "ttmem.1.2.3.untracked.-1.1", "ttmem.1.2.3.untracked.1.1.1",
        "ttmem.1.2.3.socket.untracked.1.1", "ttmem.1.2.untracked.1.1", "x.untracked.1.1"}) {
    EXPECT_FALSE(parse_untracked_name(other)) << other;
  }
}

TEST_F(CollectorTest, FilesWithOtherNamesAreIgnored) {
  for (const char* name :
       {"ttmem.1.2.3.ended", "ttmem.1.2.3.ended.", "ttmem.1.2.3.ended.4", "ttmem.1.2.3.ended.4.",
        "ttmem.1.2.3.ended.4.5.6", "x.ended.4.5", "ttmem.1.2.3.failed.ended.4.5"}) {
    EXPECT_FALSE(parse_kept_name(name)) << name;
  }
  for (const char* name :
       {"ttmem", "ttmem.1.2", "ttmem.1.2.3.0", "ttmem.1.2.3.4.5", "ttmem.1.2.x", "ttmem.-1.2.3",
        "ttmem..2.3", "xttmem.1.2.3", "ttmem.1.2.3.socket2", "ttmem.1.2.socket", "ttmem.1.2.3\x1b",
        "ttmem.+1.2.3", "ttmem.1.99999999999.3"}) {
    write(name, segment().bytes());
    EXPECT_FALSE(parse_segment_name(name)) << name;
  }
  const Snapshot snapshot = collect(directory_);
  EXPECT_TRUE(snapshot.devices.empty());
  EXPECT_TRUE(snapshot.warnings.empty());
}

TEST_F(CollectorTest, AFileThatIsNotASegmentYetIsNoWarningButAForeignOneIs) {
  write("ttmem.0.1.1", {});
  write("ttmem.0.2.1", std::vector<std::byte>(100000));
  EXPECT_TRUE(collect(directory_).warnings.empty());
  write("ttmem.0.3.1", std::vector<std::byte>(100000, std::byte{1}));
  EXPECT_TRUE(mentions(collect(directory_).warnings, "ttmem.0.3.1: it is not a segment of ttmem"));
}

TEST_F(CollectorTest, SegmentsThatMayNotBeReadAreCountedByOwner) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
  for (const char* name : {"ttmem.0.1.1", "ttmem.0.2.1", "ttmem.0.3.1"}) {
    ASSERT_EQ(::chmod(write(name, segment().bytes()).c_str(), 0600), 0);
  }
  ASSERT_EQ(::chmod(directory_.c_str(), 0755), 0);
  int answer[2];
  ASSERT_EQ(::pipe(answer), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(1);
    const Snapshot snapshot = collect(directory_);
    std::string all = fmt::format("{}:", snapshot.warnings.size());
    for (const std::string& warning : snapshot.warnings) all += warning;
    const auto size = static_cast<ssize_t>(all.size());
    ::_exit(::write(answer[1], all.data(), all.size()) == size ? 0 : 1);
  }
  ::close(answer[1]);
  std::string said(4096, '\0');
  const ssize_t size = ::read(answer[0], said.data(), said.size());
  said.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  ::close(answer[0]);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(said, fmt::format("1:cannot read 3 segments in {}: permission denied; they belong to "
                              "root, run ttmem as root to see those processes",
                              directory_));
}

TEST_F(CollectorTest, ManyUnreadableFilesGiveFewWarnings) {
  for (int i = 1; i <= 200; ++i) {
    ASSERT_EQ(::mkfifo(path(fmt::format("ttmem.0.{}.1", i)).c_str(), 0600), 0);
  }
  const Snapshot snapshot = collect(directory_);
  EXPECT_LT(snapshot.warnings.size(), 70u);
  EXPECT_TRUE(mentions(snapshot.warnings, "136 more warnings"));
}

TEST(LowSpace, IsAWarningBelowOneMebibyte) {
  EXPECT_FALSE(low_space_warning("/dev/shm", 1 << 20).has_value());
  const auto warning = low_space_warning("/dev/shm", (1 << 20) - 1);
  ASSERT_TRUE(warning.has_value());
  EXPECT_NE(warning->find("new processes cannot be tracked"), std::string::npos);
}

TEST_F(CollectorTest, ARowOfTtMetalLivesAsLongAsTheProcessThatWroteIt) {
  const std::uint64_t now = clock_ns(CLOCK_REALTIME);
  write("tt_device_11_memory", region(::getpid(), now));
  const Snapshot alive = collect(directory_);
  EXPECT_EQ(alive.devices.at(0).used(Kind::dram), 1310720u);
  EXPECT_EQ(alive.devices.at(0).processes.at(0).state, State::alive);

  write("tt_device_11_memory", region(kNoPid, now));
  const Snapshot dead = collect(directory_);
  EXPECT_FALSE(dead.devices.at(0).used(Kind::dram).has_value());
  EXPECT_EQ(dead.devices.at(0).processes.at(0).state, State::dead);

  // The row was written before this process started. Therefore the row belongs to an earlier
  // process that had the same pid.
  const std::uint64_t began = start_unix_ns(process_facts(::getpid())->start_time_ticks);
  write("tt_device_11_memory", region(::getpid(), began - 60'000'000'000));
  EXPECT_EQ(collect(directory_).devices.at(0).processes.at(0).state, State::dead);
}

TEST_F(CollectorTest, ARegionThatCannotBeDecodedIsAWarning) {
  write("tt_device_11_memory", std::vector<std::byte>(100));
  EXPECT_TRUE(mentions(collect(directory_).warnings, "tt_device_11_memory: it has 100 bytes"));
}

TEST_F(CollectorTest, ReapRemovesTheSegmentsOfTheDeadAndNothingElse) {
  const std::string dead = write(segment());
  const std::string live = write(segment(2));
  const std::string theirs = write("tt_device_11_memory", region(1, 1));
  const std::string foreign = write("ttmem.0.3.1", std::vector<std::byte>(100, std::byte{1}));
  const LockHolder owner(live);

  const DeadSegments found = find_dead(directory_);
  ASSERT_EQ(found.segments.size(), 1u);
  EXPECT_EQ(found.segments[0].path, dead);
  EXPECT_EQ(found.segments[0].pid, kNoPid);
  EXPECT_EQ(found.segments[0].name, "python3");
  EXPECT_EQ(found.segments[0].kinds[Kind::dram].used_bytes, 4096u);
  EXPECT_TRUE(mentions(found.warnings, "ttmem.0.3.1"));
  EXPECT_TRUE(std::filesystem::exists(dead)) << "finding removes nothing";

  const ReapReport report = reap(directory_, found.segments);
  EXPECT_EQ(report.removed, 1u);
  EXPECT_TRUE(report.warnings.empty());
  EXPECT_FALSE(std::filesystem::exists(dead));
  EXPECT_TRUE(std::filesystem::exists(live));
  EXPECT_TRUE(std::filesystem::exists(theirs));
  EXPECT_TRUE(std::filesystem::exists(foreign));
}

TEST_F(CollectorTest, ReapRemovesOnlyReportedSegments) {
  write(segment());
  const DeadSegments said = find_dead(directory_);
  // The owner of this segment died after find_dead().
  const std::string younger = write(segment(2));
  EXPECT_EQ(reap(directory_, said.segments).removed, 1u);
  EXPECT_TRUE(std::filesystem::exists(younger));
}

TEST_F(CollectorTest, ReapKeepsSegmentsThatAreAliveAgain) {
  const std::string file = write(segment());
  const DeadSegments said = find_dead(directory_);
  const LockHolder owner(file);
  EXPECT_EQ(reap(directory_, said.segments).removed, 0u);
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_F(CollectorTest, ReapWarnsAboutASegmentThatAReaderLocks) {
  const std::string file = write(segment());
  UniqueFd reader(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(reader.get(), LOCK_SH | LOCK_NB), 0);
  const DeadSegments found = find_dead(directory_);
  ASSERT_EQ(found.segments.size(), 1u);
  const ReapReport report = reap(directory_, found.segments);
  EXPECT_EQ(report.removed, 0u);
  EXPECT_TRUE(mentions(report.warnings, file + ": another process holds its lock; try again"));
  reader.reset();
  EXPECT_EQ(reap(directory_, found.segments).removed, 1u);
}

TEST_F(CollectorTest, ReapCountsBuffersAndKernelsAsAllocationsAsTheSnapshotDoes) {
  SegmentBuilder builder = segment();
  builder.device(0).figures.kinds[Kind::dram].live = 3;
  builder.device(0).figures.kinds[Kind::kernel].live = 1;
  builder.device(0).figures.kinds[Kind::cb].live = 5;
  write(builder);
  EXPECT_EQ(live_allocations(find_dead(directory_).segments.at(0).kinds), 4u);
  EXPECT_EQ(live_allocations(collect(directory_).devices.at(0).processes.at(0).kinds), 4u);
}

TEST_F(CollectorTest, ReapRemovesUnfinishedFilesOnlyWhenOldAndUnlocked) {
  const std::string young = write("ttmem.0.1.1", {});
  const std::string old = write("ttmem.0.2.1", std::vector<std::byte>(20000));
  const std::string held = write("ttmem.0.3.1", {});
  const std::string cut = write("ttmem.0.4.1", segment().bytes());
  std::filesystem::resize_file(cut, 600);
  const LockHolder maker(held);
  for (const std::string& file : {old, held, cut}) age(file, 11);
  EXPECT_EQ(reap(directory_, find_dead(directory_).segments).removed, 2u);
  EXPECT_TRUE(std::filesystem::exists(young));
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(held));
  EXPECT_FALSE(std::filesystem::exists(cut));
}

TEST_F(CollectorTest, ReapRemovesDeadSegmentsOfAnotherLayoutVersion) {
  SegmentBuilder builder = segment();
  builder.header().layout_version = 9;
  const std::string file = write("ttmem.0.77.1", builder.bytes());
  EXPECT_TRUE(mentions(collect(directory_).warnings, "another version of libttmem"));
  const DeadSegments found = find_dead(directory_);
  ASSERT_EQ(found.segments.size(), 1u);
  EXPECT_EQ(found.segments[0].pid, 77) << "from the name of the file";
  EXPECT_EQ(reap(directory_, found.segments).removed, 1u);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(CollectorTest, AMissingDirectoryHasNothingToReapAndIsAWarning) {
  EXPECT_EQ(find_dead(path("nowhere")).warnings.size(), 1u);
  EXPECT_EQ(reap(path("nowhere"), {}).warnings.size(), 1u);
}

TEST(ProcessInfo, FindsTheStartTimeBehindAnyName) {
  const std::string fields = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 424242 20 21";
  EXPECT_EQ(parse_start_time("7 (sh)" + fields), 424242u);
  EXPECT_EQ(parse_start_time("7 (a) b (c) S 9 9)" + fields), 424242u);
  EXPECT_FALSE(parse_start_time("").has_value());
  EXPECT_FALSE(parse_start_time("7 (sh) S 1 2").has_value());
}

TEST(ProcessInfo, RecognisesAProcessThatIsEnding) {
  const auto stat = [](const char* state, int flags, int threads) {
    return "7 (a) b) " + std::string(state) + " 1 1 1 0 -1 " + std::to_string(flags) +
           " 0 0 0 0 0 0 0 0 20 0 " + std::to_string(threads) + " 0 424242 0";
  };
  const std::string status = "Name:\tx\nSigQ:\t0/9\nSigPnd:\t0000000000000000\nShdPnd:\t1\n";
  constexpr int exiting = 4;
  EXPECT_FALSE(parse_is_ending(stat("S", 0x400100, 1), status));
  EXPECT_TRUE(parse_is_ending(stat("R", 0x400100 | exiting, 1), status));
  EXPECT_TRUE(parse_is_ending(stat("Z", 0x400100, 1), status));
  EXPECT_FALSE(parse_is_ending(stat("Z", exiting, 3), status)) << "other threads go on";
  EXPECT_TRUE(parse_is_ending(stat("R", 0, 3), "Name:\tx\nSigPnd:\t0000000000000100\n"));
  EXPECT_FALSE(parse_is_ending("", ""));
}

TEST(ProcessInfo, FindsAllFourUids) {
  const auto uids =
      parse_uids("Name:\tUid: 5\nUmask:\t0022\nUid:\t1000\t1001\t1002\t1003\nGid:\t1");
  EXPECT_EQ(uids, (std::array<std::uint32_t, 4>{1000, 1001, 1002, 1003}));
  EXPECT_FALSE(parse_uids("Uid").has_value());
}

TEST(ProcessInfo, ReadsABootId) {
  const auto id = parse_boot_id("01234567-89ab-cdef-0011-2233445566ff\n");
  ASSERT_TRUE(id.has_value());
  EXPECT_EQ((*id)[0], 0x01);
  EXPECT_EQ((*id)[15], 0xff);
  EXPECT_FALSE(parse_boot_id("0123").has_value());
  EXPECT_TRUE(boot_id().has_value());
}

TEST(ProcessInfo, AUserWithoutANameIsShownAsNumber) {
  EXPECT_EQ(user_name(0), "root");
  EXPECT_EQ(user_name(3999999999), "3999999999");
}

}  // namespace
}  // namespace ttmem::collector
