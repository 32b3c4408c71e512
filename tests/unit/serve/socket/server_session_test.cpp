// SPDX-License-Identifier: Apache-2.0
//
// Sends messages to a server and checks the figures in the proxy segment. The collector reads a
// proxy segment like any segment.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

#include "serve/socket/session.hpp"
#include "support/server_fixture.hpp"

namespace ttmem::serve {
namespace {

using wire::Message;
using wire::MessageType;
using Verdict = Session::Verdict;

constexpr std::uint64_t kMiB = 1 << 20;

Message cb(std::uint64_t program, std::uint32_t index, std::uint32_t count, std::uint64_t address,
           std::uint64_t bytes, std::int32_t device = 0) {
  Message result = message(MessageType::cb_alloc, 0, bytes, 0, device);
  result.answer.mark = wire::kDetailsMark;
  result.allocation.address = address;
  result.allocation.bytes_per_bank = bytes;
  result.allocation.cores[0] = ~0ULL;
  result.allocation.cb.program = program;
  result.allocation.cb.index = index;
  result.allocation.cb.count = count;
  return result;
}

TEST(Session, AProxySegmentIsReadLikeAnyOther) {
  SessionFixture server;
  const auto session = server.connect(1);
  say(*session, message(MessageType::alloc, 4096, 3 * kMiB, TTMEM_L1));
  const model::Device device = server.device();
  EXPECT_EQ(device.logical(Kind::l1), 3 * kMiB);
  ASSERT_EQ(device.processes.size(), 1U);
  EXPECT_EQ(device.processes[0].pid, ::getpid());
  EXPECT_EQ(device.processes[0].state, model::State::alive);
  EXPECT_TRUE(server.snapshot().warnings.empty());
}

// Returns a notice of libttmem about its connection. `copy` tells apart several copies of the
// library in one process.
Message notice(wire::ClientNotice report, std::uint64_t copy = 1) {
  Message result = message(MessageType::device_info_response, copy);
  result.device.is_available = static_cast<std::uint32_t>(report);
  result.device.mark = wire::kDetailsMark;
  return result;
}

std::size_t files(const SessionFixture& server) {
  const std::filesystem::directory_iterator begin(server.directory());
  return static_cast<std::size_t>(std::distance(begin, {}));
}

TEST(Session, TheEndOfAConnectionIsNotTheEndOfAProcess) {
  SessionFixture server;
  auto first = server.connect(1);
  auto second = server.connect(2);
  say(*first, message(MessageType::alloc, 4096, kMiB));
  say(*second, message(MessageType::alloc, 8192, kMiB));
  EXPECT_EQ(server.clients().size(), 1U);
  first.reset();
  second.reset();
  server.loop().poll();
  EXPECT_EQ(server.device().used(Kind::dram), 2 * kMiB);
  EXPECT_EQ(server.device().processes.at(0).state, model::State::alive);
  const auto third = server.connect(3);
  say(*third, message(MessageType::free, 4096));
  EXPECT_EQ(server.device().used(Kind::dram), kMiB);
  EXPECT_EQ(server.clients().size(), 1U);
}

TEST(Session, AProcessThatHoldsNothingLeavesNothing) {
  SessionFixture server;
  auto session = server.connect(1);
  say(*session, message(MessageType::alloc, 4096, kMiB));
  say(*session, message(MessageType::free, 4096));
  EXPECT_EQ(files(server), 1U);
  session.reset();
  EXPECT_EQ(files(server), 0U);
  EXPECT_EQ(server.clients().size(), 0U);
}

// A child process that does nothing until it is killed.
class Child {
 public:
  Child() : pid_(::fork()) {
    while (pid_ == 0) ::pause();
  }
  ~Child() { kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Kills the child and waits for its end, so that the child does not stay a zombie.
  void kill() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_;
};

Message of(pid_t pid, Message report) {
  report.head.process_id = pid;
  return report;
}

TEST(Session, AProcessThatEndsLaterLeavesEvidence) {
  SessionFixture server;
  Child child;
  const pid_t pid = child.pid();
  auto session = server.connect(1, pid);
  say(*session, of(pid, message(MessageType::alloc, 4096, kMiB)));
  say(*session, of(pid, cb(7, 0, 1, 105664, 4096)));
  session.reset();
  server.loop().poll();
  EXPECT_EQ(server.device().used(Kind::dram), kMiB);
  child.kill();
  server.loop().restart();
  server.loop().run_one();
  EXPECT_EQ(server.clients().size(), 0U);
  EXPECT_EQ(server.clients().totals().get(0, Kind::dram), 0U);
  EXPECT_TRUE(collector::find_abandoned(server.directory()).segments.empty());
  const auto dead = collector::find_dead(server.directory()).segments;
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead[0].pid, pid);
  EXPECT_EQ(dead[0].kinds[Kind::dram].used_bytes, kMiB);
  EXPECT_EQ(dead[0].kinds[Kind::cb].used_bytes, 64U * 4096);
  EXPECT_EQ(server.device().processes.at(0).state, model::State::dead);
}

TEST(Session, AKilledProcessLeavesEvidenceWithItsLastConnection) {
  SessionFixture server;
  Child child;
  const pid_t pid = child.pid();
  auto first = server.connect(1, pid);
  auto second = server.connect(2, pid);
  say(*first, of(pid, message(MessageType::alloc, 4096, kMiB)));
  say(*second, of(pid, message(MessageType::alloc, 8192, kMiB)));
  child.kill();
  first.reset();
  EXPECT_TRUE(collector::find_dead(server.directory()).segments.empty());
  second.reset();
  // The server reads the process's other connections before it handles the end.
  server.loop().poll();
  ASSERT_EQ(collector::find_dead(server.directory()).segments.size(), 1U);
  EXPECT_EQ(server.clients().size(), 0U);
}

TEST(Session, AServerThatStopsLeavesOnlyEvidence) {
  SessionFixture server;
  Child child;
  auto dead = server.connect(1, child.pid());
  auto alive = server.connect(2);
  say(*dead, of(child.pid(), message(MessageType::alloc, 4096, kMiB)));
  say(*alive, message(MessageType::alloc, 4096, kMiB));
  child.kill();
  server.clients().stop();
  alive.reset();
  dead.reset();
  EXPECT_EQ(server.clients().size(), 0U);
  EXPECT_EQ(files(server), 1U);
  EXPECT_EQ(collector::find_dead(server.directory()).segments.size(), 1U);
}

// The process has already ended when the server accepts the second connection. The server can then
// no longer read the start time of the process.
TEST(Session, AConnectionOfADeadProcessJoinsItsEarlierReports) {
  SessionFixture server;
  Child child;
  const pid_t pid = child.pid();
  auto first = server.connect(1, pid);
  say(*first, of(pid, notice(wire::ClientNotice::hello)));
  say(*first, of(pid, message(MessageType::alloc, 4096, kMiB)));
  child.kill();
  first.reset();
  auto second = server.connect(2, pid);
  say(*second, of(pid, notice(wire::ClientNotice::hello)));
  say(*second, of(pid, notice(wire::ClientNotice::goodbye)));
  EXPECT_EQ(server.clients().size(), 1U);
  server.loop().poll();
  second.reset();
  EXPECT_EQ(server.clients().size(), 0U);
  EXPECT_EQ(files(server), 0U);
}

TEST(Session, ManyEndsDoNotFillTheDirectory) {
  SessionFixture server;
  for (ConnectionId id = 1; id <= 2 * ClientRegistry::kMaxEvidence; ++id) {
    say(*server.connect(id, 0), message(MessageType::alloc, 4096, kMiB));
  }
  EXPECT_EQ(files(server), ClientRegistry::kMaxEvidence);
  const auto dead = collector::find_dead(server.directory()).segments;
  EXPECT_EQ(collector::reap(server.directory(), dead).removed, ClientRegistry::kMaxEvidence);
  EXPECT_EQ(server.clients().totals().get(0, Kind::dram), 0U);
}

TEST(Session, AConnectionThatIsRefusedLeavesNothing) {
  SessionFixture server;
  auto good = server.connect(1);
  auto bad = server.connect(2);
  say(*good, message(MessageType::alloc, 4096, kMiB));
  say(*bad, message(MessageType::alloc, 4096, kMiB));
  say(*bad, message(MessageType::alloc, 8192, kMiB));
  for (int i = 0; i < 3; ++i) say(*bad, message(static_cast<MessageType>(77)));
  bad.reset();
  EXPECT_EQ(server.device().used(Kind::dram), kMiB);
  say(*good, message(MessageType::free, 4096));
  EXPECT_EQ(server.device().used(Kind::dram), 0U);
}

// A server may read messages of an old connection after messages of a newer connection. It must
// ignore the old messages.
TEST(Session, AnEarlierConnectionReadAfterAGoodbyeIsOutOfDate) {
  SessionFixture server;
  auto earlier = server.connect(1);
  auto later = server.connect(2);
  say(*later, notice(wire::ClientNotice::hello));
  say(*later, notice(wire::ClientNotice::goodbye));
  EXPECT_EQ(say(*earlier, notice(wire::ClientNotice::hello)), Session::Verdict::close);
  later.reset();
  earlier.reset();
  EXPECT_EQ(files(server), 0U);
  EXPECT_EQ(server.clients().size(), 0U);
}

// The server removes the client when the later connection ends. It still ignores the earlier
// connection.
TEST(Session, AnEarlierConnectionReadAfterTheEndOfAGoodbyeIsOutOfDate) {
  SessionFixture server;
  auto earlier = server.connect(1);
  auto later = server.connect(2);
  say(*later, notice(wire::ClientNotice::hello));
  say(*later, notice(wire::ClientNotice::goodbye));
  later.reset();
  EXPECT_EQ(server.clients().size(), 0U);
  EXPECT_EQ(say(*earlier, notice(wire::ClientNotice::hello)), Session::Verdict::close);
  earlier.reset();
  EXPECT_EQ(files(server), 0U);
  EXPECT_EQ(server.clients().size(), 0U);
  auto again = server.connect(3);
  EXPECT_EQ(say(*again, notice(wire::ClientNotice::hello)), Session::Verdict::proceed);
}

TEST(Session, RepeatedReportsAreNoLongerMissing) {
  SessionFixture server;
  auto session = server.connect(1);
  Message device = message(MessageType::device_info_response);
  device.device.is_available = static_cast<std::uint32_t>(wire::ClientNotice::opened);
  device.device.events_dropped = 100;
  device.device.events_resent = 70;
  device.device.mark = wire::kDetailsMark;
  const auto warning = [&] {
    const auto warnings = server.snapshot().warnings;
    return warnings.empty() ? "" : warnings.front();
  };
  say(*session, notice(wire::ClientNotice::hello));
  say(*session, device);
  EXPECT_NE(warning().find("100 calls not recorded"), std::string::npos) << warning();
  say(*session, notice(wire::ClientNotice::complete));
  EXPECT_NE(warning().find("30 calls not recorded"), std::string::npos) << warning();
  say(*session, device);
  say(*session, notice(wire::ClientNotice::complete));
  EXPECT_NE(warning().find("30 calls not recorded"), std::string::npos) << warning();
}

TEST(Session, AGoodbyeLeavesNothing) {
  SessionFixture server;
  auto session = server.connect(1);
  say(*session, notice(wire::ClientNotice::hello));
  say(*session, message(MessageType::alloc, 4096, kMiB));
  say(*session, notice(wire::ClientNotice::goodbye));
  session.reset();
  EXPECT_EQ(files(server), 0U);
  EXPECT_EQ(server.clients().size(), 0U);
  EXPECT_EQ(server.clients().totals().get(0, Kind::dram), 0U);
}

TEST(Session, AGoodbyeEndsOneCopyOfTheLibrary) {
  SessionFixture server;
  std::array sessions = {server.connect(1), server.connect(2), server.connect(3)};
  say(*sessions[0], notice(wire::ClientNotice::hello, 1));
  say(*sessions[1], notice(wire::ClientNotice::hello, 2));
  for (std::uint64_t i = 0; i < 3; ++i)
    say(*sessions[i], message(MessageType::alloc, i, kMiB << i));
  say(*sessions[0], notice(wire::ClientNotice::goodbye, 1));
  EXPECT_EQ(server.device().used(Kind::dram), 6 * kMiB);
  say(*sessions[1], notice(wire::ClientNotice::goodbye, 2));
  EXPECT_EQ(server.device().used(Kind::dram), 4 * kMiB) << "of an original client";
  for (auto& session : sessions) session.reset();
  EXPECT_EQ(server.device().used(Kind::dram), 4 * kMiB) << "which has not ended";
}

TEST(Session, AProcessThatReportsAfterAGoodbyeBeginsWithNothing) {
  SessionFixture server;
  auto session = server.connect(1);
  say(*session, notice(wire::ClientNotice::hello));
  say(*session, message(MessageType::alloc, 4096, kMiB));
  say(*session, notice(wire::ClientNotice::goodbye));
  auto original = server.connect(2);
  say(*original, message(MessageType::alloc, 8192, 2 * kMiB));
  EXPECT_EQ(server.device().used(Kind::dram), 2 * kMiB);
}

// The kernel reports the pid 0 for every process whose pid namespace the server cannot see.
TEST(Session, ProcessesOfUnseenContainersWithTheSamePidAreTwo) {
  SessionFixture server;
  auto one = server.connect(1, 0);
  auto other = server.connect(2, 0);
  say(*one, message(MessageType::alloc, 4096, kMiB));
  say(*other, message(MessageType::alloc, 4096, 2 * kMiB));
  EXPECT_EQ(server.clients().size(), 2U);
  EXPECT_EQ(server.device().used(Kind::dram), 3 * kMiB);
  EXPECT_EQ(server.device().processes.size(), 2U);
  one.reset();
  EXPECT_EQ(server.device().used(Kind::dram), 2 * kMiB) << "it ends with its connection";
  other.reset();
  const auto dead = collector::find_dead(server.directory()).segments;
  ASSERT_EQ(dead.size(), 2U);
  EXPECT_EQ(dead[0].pid, ::getpid());
  EXPECT_NE(dead[0].path, dead[1].path);
  auto again = server.connect(3, 0);
  say(*again, message(MessageType::alloc, 4096, kMiB));
  EXPECT_EQ(collector::find_dead(server.directory()).segments.size(), 2U)
      << "another of that pid does not remove the evidence";
}

TEST(Session, AfterAResendOnlyResentAllocationsAreLive) {
  SessionFixture server;
  auto old = server.connect(1);
  say(*old, notice(wire::ClientNotice::hello));
  say(*old, message(MessageType::alloc, 4096, kMiB));
  // The server never receives the free of this buffer.
  say(*old, message(MessageType::alloc, 8192, 8 * kMiB));
  say(*old, message(MessageType::cb_alloc, 1, kMiB));
  say(*old, cb(7, 0, 1, 105664, 4096));
  // The hello of the new connection may arrive before the old connection ends. Messages of the old
  // connection that arrive after this hello are out of date.
  const auto fresh = server.connect(2);
  say(*fresh, notice(wire::ClientNotice::hello));
  EXPECT_EQ(say(*old, message(MessageType::free, 4096)), Verdict::close);
  old.reset();
  say(*fresh, message(MessageType::alloc, 4096, kMiB));
  say(*fresh, message(MessageType::cb_alloc, 1, kMiB));
  say(*fresh, cb(7, 0, 1, 105664, 4096));
  EXPECT_EQ(server.device().used(Kind::dram), 9 * kMiB) << "it may still come";
  say(*fresh, notice(wire::ClientNotice::complete));
  EXPECT_EQ(server.device().used(Kind::dram), kMiB);
  EXPECT_EQ(server.device().used(Kind::cb), kMiB + 64 * 4096);
  say(*fresh, message(MessageType::free, 4096));
  say(*fresh, message(MessageType::cb_free, 1));
  EXPECT_EQ(server.device().used(Kind::dram), 0U);
  EXPECT_EQ(server.device().used(Kind::cb), 64 * 4096U);
}

TEST(Session, AFreeOnAnotherConnectionOfTheProcessCounts) {
  SessionFixture server;
  const auto first = server.connect(1);
  const auto second = server.connect(2);
  say(*first, message(MessageType::alloc, 4096, kMiB));
  say(*second, message(MessageType::free, 4096));
  EXPECT_EQ(server.device().used(Kind::dram), 0U);
}

TEST(Session, ARepeatedNumberMayChangeItsType) {
  SessionFixture server;
  const auto session = server.connect(1);
  say(*session, message(MessageType::alloc, 4096, kMiB, TTMEM_DRAM));
  say(*session, message(MessageType::alloc, 4096, 2 * kMiB, TTMEM_L1));
  EXPECT_EQ(server.device().used(Kind::dram), 0U);
  EXPECT_EQ(server.device().used(Kind::l1), 2 * kMiB);
  EXPECT_EQ(server.clients().totals().get(0, Kind::dram), 0U);
  EXPECT_EQ(server.clients().totals().get(0, Kind::l1), 2 * kMiB);
}

TEST(Session, TheTotalInTheLogCoversAllProcesses) {
  SessionFixture server;
  Message other = message(MessageType::alloc, 4096, kMiB);
  other.head.process_id = 0;
  const auto session = server.connect(1);
  say(*session, message(MessageType::alloc, 8192, 2 * kMiB));
  say(*session, other);
  EXPECT_NE(server.log().find("+1.00 MiB (total 3.00 MiB) dram"), std::string::npos)
      << server.log();
}

TEST(Session, ADestroyedProgramLeavesEveryDevice) {
  SessionFixture server;
  const auto session = server.connect(1);
  for (const std::int32_t device : {0, 1}) {
    for (std::uint32_t index = 0; index < 2; ++index) {
      Message one = cb(7, index, 2, 105664 + index * 4096, 4096);
      one.head.device_id = device;
      say(*session, one);
    }
  }
  EXPECT_EQ(server.clients().totals().get(1, Kind::cb), 2 * 64 * 4096U);
  Message gone = cb(7, 0, 0, 0, 0);
  gone.head.type = static_cast<std::uint8_t>(MessageType::cb_free);
  say(*session, gone);
  EXPECT_EQ(server.device().used(Kind::cb), 0U);
  EXPECT_EQ(server.clients().totals().get(0, Kind::cb), 0U);
  EXPECT_EQ(server.clients().totals().get(1, Kind::cb), 0U);
}

TEST(Session, ACbOutOfOrderPlacesNothing) {
  SessionFixture server;
  const auto session = server.connect(1);
  say(*session, message(MessageType::alloc, 4096, kMiB));
  say(*session, cb(7, 0, 3, 105664, 4096));
  say(*session, cb(7, 2, 3, 113856, 4096));
  say(*session, cb(8, 1, 2, 109760, 4096));
  EXPECT_FALSE(server.device().used(Kind::cb).has_value()) << "none was reported whole";
}

TEST(Session, AnAnswerShowsTheMomentOfItsRequest) {
  SessionFixture server;
  const auto session = server.connect(1);
  const Message batch[] = {message(MessageType::alloc, 4096, kMiB), message(MessageType::query),
                           message(MessageType::alloc, 8192, kMiB), message(MessageType::query)};
  std::string answers;
  EXPECT_EQ(session->handle(std::as_bytes(std::span(batch)), answers), Verdict::proceed);
  ASSERT_EQ(answers.size(), 2 * sizeof(Message));
  Message answered[2];
  std::memcpy(answered, answers.data(), sizeof answered);
  EXPECT_EQ(answered[0].answer.dram_bytes, kMiB);
  EXPECT_EQ(answered[1].answer.dram_bytes, 2 * kMiB);
}

TEST(Session, OnlyConsecutiveBadMessagesEndTheConnection) {
  SessionFixture server;
  const auto session = server.connect(1);
  const Message bad = message(static_cast<MessageType>(77));
  EXPECT_EQ(say(*session, bad), Verdict::proceed);
  EXPECT_EQ(say(*session, bad), Verdict::proceed);
  EXPECT_EQ(say(*session, message(MessageType::alloc, 4096, kMiB)), Verdict::proceed);
  EXPECT_EQ(say(*session, bad), Verdict::proceed);
  EXPECT_EQ(say(*session, bad), Verdict::proceed);
  EXPECT_EQ(say(*session, bad), Verdict::close);
  EXPECT_EQ(server.statistics().bad, 5U);
  EXPECT_EQ(server.statistics().messages, 1U);
}

TEST(Session, ClosingADeviceEmptiesItAndItsTotals) {
  SessionFixture server;
  const auto session = server.connect(1);
  say(*session, message(MessageType::alloc, 4096, kMiB, TTMEM_L1));
  Message close = message(MessageType::device_info_response);
  close.device.mark = wire::kDetailsMark;
  say(*session, close);
  EXPECT_TRUE(server.snapshot().devices.empty());
  EXPECT_EQ(server.clients().totals().get(0, Kind::l1), 0U);
  say(*session, message(MessageType::free, 4096));  // the close has already removed this buffer
  say(*session, message(MessageType::alloc, 4096, kMiB, TTMEM_L1));
  EXPECT_EQ(server.device().used(Kind::l1), kMiB);
}

constexpr std::uint64_t kMaxOfAKind = 1ULL << 61;
constexpr std::uint64_t kFit = kMaxOfAKind / kMaxBytes;

TEST(Session, ASizeThatWouldOverflowTheSumIsNotCounted) {
  SessionFixture server;
  const auto session = server.connect(1);
  for (std::uint64_t id = 1; id <= kFit + 1; ++id) {
    say(*session, message(MessageType::alloc, id, kMaxBytes));
  }
  EXPECT_FALSE(server.device().used(Kind::dram).has_value()) << "no device has that much";
  EXPECT_EQ(server.device().anomalies->bad_arguments, 1U);
  EXPECT_NE(server.log().find("ignored: the device would hold more than 2^61 bytes of this kind"),
            std::string::npos);
  EXPECT_EQ(server.clients().totals().get(0, Kind::dram), kMaxOfAKind);
  say(*session, message(MessageType::free, kFit + 1));
  EXPECT_EQ(server.device().anomalies->unknown_frees, 1U);
}

TEST(Session, ABufferThatCannotGrowKeepsItsSize) {
  SessionFixture server;
  const auto session = server.connect(1);
  for (std::uint64_t id = 1; id < kFit; ++id) {
    say(*session, message(MessageType::alloc, id, kMaxBytes));
  }
  say(*session, message(MessageType::alloc, kFit, kMaxBytes - 150));
  const std::uint64_t grows = kFit + 1;
  say(*session, message(MessageType::alloc, grows, 100));
  say(*session, message(MessageType::alloc, grows, 200));
  EXPECT_EQ(server.clients().totals().get(0, Kind::dram), kMaxOfAKind - 50);
  say(*session, message(MessageType::free, grows));
  EXPECT_EQ(server.clients().totals().get(0, Kind::dram), kMaxOfAKind - 50)
      << "each wants its own free";
  say(*session, message(MessageType::free, grows));
  EXPECT_EQ(server.clients().totals().get(0, Kind::dram), kMaxOfAKind - 150);
  EXPECT_EQ(server.device().anomalies->unknown_frees, 0U);
}

TEST(Session, ADeviceBeyondTheMaximumHoldsNothing) {
  SessionFixture server;
  const auto session = server.connect(1);
  for (std::int32_t device = 0; device < static_cast<std::int32_t>(segment::kMaxDevices);
       ++device) {
    say(*session, message(MessageType::alloc, 1, 1, TTMEM_DRAM, device));
  }
  constexpr auto kTooMany = static_cast<std::int32_t>(segment::kMaxDevices);
  for (int time = 0; time < 2; ++time) {
    say(*session, message(MessageType::alloc, 1, 50, TTMEM_DRAM, kTooMany));
    say(*session, message(MessageType::cb_alloc, 1, 50, 0, kTooMany));
    say(*session, message(MessageType::kernel_load, 1, 50, 0, kTooMany));
    say(*session, cb(7, 0, 1, 1000, 50, kTooMany));
  }
  const std::string log = server.log();
  std::size_t refused = 0;
  const std::string_view reason = "ignored: a process can have at most 128 devices";
  for (std::size_t at = 0; (at = log.find(reason, at)) != std::string::npos; ++at) ++refused;
  EXPECT_EQ(refused, 8U) << log;
  EXPECT_EQ(log.find("held 2 times"), std::string::npos);
}

TEST(Session, ReportsWithoutRoomInTheSegmentAreIgnored) {
  SessionFixture server;
  const auto session = server.connect(1);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  // The file has room for the chunk of events only.
  limit.rlim_cur = segment::kHeaderBytes + segment::kChunkBytes;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  say(*session, message(MessageType::alloc, 4096, kMiB));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_NE(server.log().find("ignored: the segment is full; free space in TTMEM_DIR"),
            std::string::npos)
      << server.log();
  EXPECT_TRUE(server.snapshot().devices.empty());
}

TEST(Session, AReconnectedLibraryReplacesItsPlacementsOfAProgram) {
  SessionFixture server;
  auto first = server.connect(1);
  const auto second = server.connect(2);
  say(*first, notice(wire::ClientNotice::hello));
  say(*first, cb(77, 0, 1, 1000, 64, 0));
  say(*first, cb(77, 0, 1, 1000, 64, 1));
  say(*second, notice(wire::ClientNotice::hello));
  say(*second, cb(77, 0, 1, 1000, 64, 0));
  first.reset();
  EXPECT_EQ(server.snapshot().devices[1].used(Kind::cb), 64U * 64);
  say(*second, notice(wire::ClientNotice::complete));
  EXPECT_EQ(server.device().used(Kind::cb), 64U * 64);
  ASSERT_EQ(server.snapshot().devices.size(), 2U);
  EXPECT_EQ(server.snapshot().devices[1].used(Kind::cb), 0U);
  EXPECT_EQ(server.clients().totals().get(1, Kind::cb), 0U);
  say(*second, cb(77, 0, 1, 1000, 64, 1));
  EXPECT_EQ(server.device().used(Kind::cb), 64U * 64);
  EXPECT_EQ(server.snapshot().devices[1].used(Kind::cb), 64U * 64);
}

TEST(Session, CoresOfAClosedDeviceKeepTheirNumbers) {
  SessionFixture server;
  const auto session = server.connect(1);
  Message device = message(MessageType::device_info_response);
  device.device.mark = wire::kDetailsMark;
  device.device.is_available = 1;
  device.device.grid_x = 8;
  device.device.grid_y = 8;
  say(*session, device);
  device.device.is_available = 0;
  say(*session, device);
  Message sharded = message(MessageType::alloc, 1, 16000, TTMEM_L1);
  sharded.allocation.mark = wire::kDetailsMark;
  sharded.allocation.bytes_per_bank = 1000;
  sharded.allocation.cores[0] = 0xffff;
  say(*session, sharded);
  EXPECT_EQ(server.device().used(Kind::l1), 64000U) << "in lockstep, on all cores of the grid";
  EXPECT_EQ(server.device().data(Kind::l1), 16000U);
  EXPECT_EQ(server.device().anomalies->bad_arguments, 0U);
}

// A simple model of what two connections of one process hold. The end of a connection removes
// nothing from the model.
class HeldModel {
 public:
  using Connection = std::size_t;
  static constexpr Connection kEnded = 2;

  void allocate(std::uint64_t id, std::uint8_t type, std::uint64_t bytes) {
    auto [entry, is_new] = plain_.try_emplace(id);
    Plain& held = entry->second;
    ++held.references;
    if (is_new || bytes > held.bytes) held.type = type;
    held.bytes = std::max(held.bytes, bytes);
  }
  void free(std::uint64_t id) {
    const auto held = plain_.find(id);
    if (held == plain_.end()) {
      ++anomalies.unknown_frees;
      return;
    }
    if (--held->second.references == 0) plain_.erase(held);
  }
  void allocate_detailed(Connection connection, std::uint64_t id, std::uint8_t type,
                         std::uint64_t bytes) {
    const auto held = detailed_.find({id, type});
    if (held != detailed_.end() && held->second.first == connection) ++anomalies.allocs_over_live;
    detailed_[{id, type}] = {connection, bytes};
  }
  void free_detailed(std::uint64_t id, std::uint8_t type) {
    if (detailed_.erase({id, type}) == 0) ++anomalies.unknown_frees;
  }
  void leave(Connection connection) {
    for (auto& [key, held] : detailed_) {
      if (held.first == connection) held.first = kEnded;
    }
  }
  void close() {
    anomalies.left_at_close += plain_.size() + detailed_.size();
    anomalies.left_at_close_bytes += bytes(TTMEM_DRAM) + bytes(TTMEM_L1);
    plain_.clear();
    detailed_.clear();
  }
  [[nodiscard]] std::uint64_t bytes(std::uint8_t type) const {
    std::uint64_t sum = 0;
    for (const auto& [id, held] : plain_) sum += held.type == type ? held.bytes : 0;
    for (const auto& [key, held] : detailed_) sum += key.second == type ? held.second : 0;
    return sum;
  }

  Anomalies anomalies;

 private:
  struct Plain {
    std::uint8_t type = 0;
    std::uint64_t bytes = 0;
    int references = 0;
  };
  // Buffers of original clients (docs/reference/server.md). Their ids are unique over all buffer
  // types.
  std::map<std::uint64_t, Plain> plain_;
  std::map<std::pair<std::uint64_t, std::uint8_t>, std::pair<Connection, std::uint64_t>> detailed_;
};

RC_GTEST_PROP(Session, HoldsTheSameAsASimpleModel, ()) {
  SessionFixture server;
  HeldModel model;
  // A third connection that stays open and opens the device again after each close.
  const auto keeper = server.connect(99);
  const Message kernel = message(MessageType::kernel_load, 1, 0, TTMEM_KERNEL_DISPATCH);
  say(*keeper, kernel);
  ConnectionId connections = 0;
  std::array sessions = {server.connect(++connections), server.connect(++connections)};
  const auto steps = *rc::gen::inRange(1, 100);
  for (int step = 0; step < steps; ++step) {
    const auto which = *rc::gen::inRange<std::size_t>(0, 2);
    Session& session = *sessions[which];
    const auto id = *rc::gen::inRange<std::uint64_t>(1, 6);
    const auto type = *rc::gen::element<std::uint8_t>(TTMEM_DRAM, TTMEM_L1);
    const auto size = *rc::gen::inRange<std::uint64_t>(0, 5000);
    const auto detailed = [&](MessageType what) {
      Message report = message(what, id, size, type);
      report.allocation.mark = wire::kDetailsMark;
      report.allocation.flags = segment::kNoCores;
      return report;
    };
    switch (*rc::gen::inRange(0, 10)) {
      case 0:
      case 1:
      case 2:
        say(session, message(MessageType::alloc, id, size, type));
        model.allocate(id, type, size);
        break;
      case 3:
      case 4:
        say(session, message(MessageType::free, id));
        model.free(id);
        break;
      case 5:
      case 6:
        say(session, detailed(MessageType::alloc));
        model.allocate_detailed(which, id, type, size);
        break;
      case 7:
        say(session, detailed(MessageType::free));
        model.free_detailed(id, type);
        break;
      case 8:
        sessions[which] = server.connect(++connections);
        model.leave(which);
        break;
      default: {
        Message close = message(MessageType::device_info_response);
        close.device.mark = wire::kDetailsMark;
        say(session, close);
        model.close();
        say(*keeper, kernel);
      }
    }
  }
  const model::Device device = server.device();
  RC_ASSERT(device.used(Kind::dram).value_or(0) == model.bytes(TTMEM_DRAM));
  RC_ASSERT(device.used(Kind::l1).value_or(0) == model.bytes(TTMEM_L1));
  for (const std::uint8_t type : {TTMEM_DRAM, TTMEM_L1}) {
    RC_ASSERT(server.clients().totals().get(0, kBufferKinds.at(type)) == model.bytes(type));
  }
  // The model does not count overlaps.
  model.anomalies.overlapping_buffers = device.anomalies->overlapping_buffers;
  RC_ASSERT(device.anomalies == model.anomalies);
}

TEST(EventLogText, NeverShowsZeroForANonzeroSize) {
  EXPECT_EQ(log_bytes(0), "0.00 MiB");
  EXPECT_EQ(log_bytes(192), "192 B");
  EXPECT_EQ(log_bytes(2048), "2.00 KiB");
  EXPECT_EQ(log_bytes(16384), "0.02 MiB");
  EXPECT_EQ(log_bytes(22806528), "21.75 MiB");
  EXPECT_EQ(log_bytes(12ULL << 30), "12288.00 MiB");
}

}  // namespace
}  // namespace ttmem::serve
