// SPDX-License-Identifier: Apache-2.0
//
// Messages in, figures in the kept segment out; the collector reads it as any other.
#include <gtest/gtest.h>

#include <filesystem>

#include "server/session.hpp"
#include "unit/server_fixture.hpp"

namespace ttmem::server {
namespace {

using wire::Message;
using wire::Type;
using Verdict = Session::Verdict;

constexpr std::uint64_t kMiB = 1 << 20;

Message cb(std::uint64_t program, std::uint32_t index, std::uint32_t count, std::uint64_t address,
           std::uint64_t bytes) {
  Message result = message(Type::kCbAlloc, 0, bytes);
  result.answer.mark = wire::kDetailsMark;
  result.allocation.address = address;
  result.allocation.bytes_per_bank = bytes;
  result.allocation.cores[0] = ~0ULL;
  result.allocation.cb.program = program;
  result.allocation.cb.index = index;
  result.allocation.cb.count = count;
  return result;
}

TEST(Session, AKeptSegmentIsReadLikeAnyOther) {
  SessionFixture server;
  const auto session = server.connect(1);
  say(*session, message(Type::kAlloc, 4096, 3 * kMiB, TTMEM_L1));
  const model::Device device = server.device();
  EXPECT_EQ(device.l1_buffers_logical_bytes, 3 * kMiB);
  ASSERT_EQ(device.processes.size(), 1U);
  EXPECT_EQ(device.processes[0].pid, ::getpid());
  EXPECT_EQ(device.processes[0].state, model::State::alive);
  EXPECT_TRUE(server.snapshot().warnings.empty());
}

TEST(Session, TheLastConnectionTakesTheSegmentWithIt) {
  SessionFixture server;
  auto first = server.connect(1);
  auto second = server.connect(2);
  say(*first, message(Type::kAlloc, 4096, kMiB));
  say(*second, message(Type::kAlloc, 8192, kMiB));
  EXPECT_EQ(server.clients().size(), 1U);
  first.reset();
  EXPECT_EQ(server.device().dram_used_bytes, kMiB);
  second.reset();
  EXPECT_TRUE(std::filesystem::is_empty(server.directory()));
  EXPECT_EQ(server.clients().totals().get(0, 0), 0U);
}

TEST(Session, WhatAClientSaysAgainOnANewConnectionIsNotDoubled) {
  SessionFixture server;
  auto old = server.connect(1);
  say(*old, message(Type::kAlloc, 4096, kMiB));
  say(*old, message(Type::kCbAlloc, 1, kMiB));
  say(*old, cb(7, 0, 1, 105664, 4096));
  const auto fresh = server.connect(2);
  say(*fresh, message(Type::kAlloc, 4096, kMiB));
  say(*fresh, message(Type::kCbAlloc, 1, kMiB));
  say(*fresh, cb(7, 0, 1, 105664, 4096));
  old.reset();
  EXPECT_EQ(server.device().dram_used_bytes, kMiB);
  EXPECT_EQ(server.device().cb_physical_bytes, kMiB + 64 * 4096);
  say(*fresh, message(Type::kFree, 4096));
  say(*fresh, message(Type::kCbFree, 1));
  EXPECT_EQ(server.device().dram_used_bytes, 0U);
  EXPECT_EQ(server.device().cb_physical_bytes, 64 * 4096U);
}

TEST(Session, AFreeOnAnotherConnectionOfTheProcessCounts) {
  SessionFixture server;
  const auto first = server.connect(1);
  const auto second = server.connect(2);
  say(*first, message(Type::kAlloc, 4096, kMiB));
  say(*second, message(Type::kFree, 4096));
  EXPECT_EQ(server.device().dram_used_bytes, 0U);
}

TEST(Session, ARepeatedNumberMayChangeItsType) {
  SessionFixture server;
  const auto session = server.connect(1);
  say(*session, message(Type::kAlloc, 4096, kMiB, TTMEM_DRAM));
  say(*session, message(Type::kAlloc, 4096, 2 * kMiB, TTMEM_L1));
  EXPECT_EQ(server.device().dram_used_bytes, 0U);
  EXPECT_EQ(server.device().l1_buffers_bytes, 2 * kMiB);
  EXPECT_EQ(server.clients().totals().get(0, TTMEM_DRAM), 0U);
  EXPECT_EQ(server.clients().totals().get(0, TTMEM_L1), 2 * kMiB);
}

TEST(Session, TheTotalOfTheLogIsOverAllProcesses) {
  SessionFixture server;
  Message other = message(Type::kAlloc, 4096, kMiB);
  other.head.process_id = 0;
  const auto session = server.connect(1);
  say(*session, message(Type::kAlloc, 8192, 2 * kMiB));
  say(*session, other);
  EXPECT_NE(server.log().find("+1.00 MiB (total 3.00 MiB) dram"), std::string::npos)
      << server.log();
}

TEST(Session, AProgramGoesFromEveryDevice) {
  SessionFixture server;
  const auto session = server.connect(1);
  for (const std::int32_t device : {0, 1}) {
    for (std::uint32_t index = 0; index < 2; ++index) {
      Message one = cb(7, index, 2, 105664 + index * 4096, 4096);
      one.head.device_id = device;
      say(*session, one);
    }
  }
  EXPECT_EQ(server.clients().totals().get(1, segment::kLooseCbKind), 2 * 64 * 4096U);
  Message gone = cb(7, 0, 0, 0, 0);
  gone.head.type = static_cast<std::uint8_t>(Type::kCbFree);
  say(*session, gone);
  EXPECT_EQ(server.device().cb_physical_bytes, 0U);
  EXPECT_EQ(server.clients().totals().get(0, segment::kLooseCbKind), 0U);
  EXPECT_EQ(server.clients().totals().get(1, segment::kLooseCbKind), 0U);
}

TEST(Session, ACbOutOfTurnPlacesNothing) {
  SessionFixture server;
  const auto session = server.connect(1);
  say(*session, message(Type::kAlloc, 4096, kMiB));
  say(*session, cb(7, 0, 3, 105664, 4096));
  say(*session, cb(7, 2, 3, 113856, 4096));
  say(*session, cb(8, 1, 2, 109760, 4096));
  EXPECT_EQ(server.device().cb_physical_bytes, 0U);
}

TEST(Session, AnAnswerIsOfTheMomentOfItsQuestion) {
  SessionFixture server;
  const auto session = server.connect(1);
  const Message batch[] = {message(Type::kAlloc, 4096, kMiB), message(Type::kQuery),
                           message(Type::kAlloc, 8192, kMiB), message(Type::kQuery)};
  std::string answers;
  EXPECT_EQ(session->take(std::as_bytes(std::span(batch)), answers), Verdict::kGoOn);
  ASSERT_EQ(answers.size(), 2 * sizeof(Message));
  Message told[2];
  std::memcpy(told, answers.data(), sizeof told);
  EXPECT_EQ(told[0].answer.dram_bytes, kMiB);
  EXPECT_EQ(told[1].answer.dram_bytes, 2 * kMiB);
}

TEST(Session, BadMessagesEndItOnlyWhenTheyComeInARow) {
  SessionFixture server;
  const auto session = server.connect(1);
  const Message bad = message(static_cast<Type>(77));
  EXPECT_EQ(say(*session, bad), Verdict::kGoOn);
  EXPECT_EQ(say(*session, bad), Verdict::kGoOn);
  EXPECT_EQ(say(*session, message(Type::kAlloc, 4096, kMiB)), Verdict::kGoOn);
  EXPECT_EQ(say(*session, bad), Verdict::kGoOn);
  EXPECT_EQ(say(*session, bad), Verdict::kGoOn);
  EXPECT_EQ(say(*session, bad), Verdict::kClose);
  EXPECT_EQ(server.statistics().bad, 5U);
  EXPECT_EQ(server.statistics().messages, 1U);
}

TEST(Session, ClosingADeviceEmptiesItAndItsTotals) {
  SessionFixture server;
  const auto session = server.connect(1);
  say(*session, message(Type::kAlloc, 4096, kMiB, TTMEM_L1));
  Message close = message(Type::kDeviceInfoResponse);
  close.device.mark = wire::kDetailsMark;
  say(*session, close);
  EXPECT_TRUE(server.snapshot().devices.empty());
  EXPECT_EQ(server.clients().totals().get(0, TTMEM_L1), 0U);
  say(*session, message(Type::kFree, 4096));  // unknown by now
  say(*session, message(Type::kAlloc, 4096, kMiB, TTMEM_L1));
  EXPECT_EQ(server.device().l1_buffers_bytes, kMiB);
}

TEST(EventLogText, NeverReadsZeroForWhatIsNot) {
  EXPECT_EQ(log_bytes(0), "0.00 MiB");
  EXPECT_EQ(log_bytes(192), "192 B");
  EXPECT_EQ(log_bytes(2048), "2.00 KiB");
  EXPECT_EQ(log_bytes(16384), "0.02 MiB");
  EXPECT_EQ(log_bytes(22806528), "21.75 MiB");
  EXPECT_EQ(log_bytes(12ULL << 30), "12288.00 MiB");
}

}  // namespace
}  // namespace ttmem::server
