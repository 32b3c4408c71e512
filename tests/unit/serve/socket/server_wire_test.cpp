// SPDX-License-Identifier: Apache-2.0
//
// Tests which messages a server accepts.
#include <gtest/gtest.h>

#include "serve/socket/peer.hpp"
#include "track/wire/check.hpp"

namespace ttmem::wire {
namespace {

Message of(MessageType type) {
  Message message{};
  message.head.type = static_cast<std::uint8_t>(type);
  message.head.process_id = 4711;
  return message;
}

Message detailed(MessageType type) {
  Message message = of(type);
  message.answer.mark = kDetailsMark;
  return message;
}

TEST(WireCheck, AcceptsEveryMessageThatAClientSends) {
  for (std::uint8_t type = 1; type <= 12; ++type) {
    const bool answer = type == 4 || type == 7;
    EXPECT_EQ(fault_of(of(static_cast<MessageType>(type))),
              answer ? MessageFault::answer : MessageFault::none)
        << int{type};
  }
  EXPECT_EQ(fault_of(detailed(MessageType::device_info_response)), MessageFault::none);
}

TEST(WireCheck, EveryTypeHasItsName) {
  EXPECT_EQ(name_of(MessageType::alloc), "ALLOC");
  EXPECT_EQ(name_of(MessageType::cb_free), "CB_FREE");
  EXPECT_EQ(name_of(MessageType::dump_kernels), "DUMP_KERNELS");
  EXPECT_TRUE(name_of(static_cast<MessageType>(0)).empty());
  EXPECT_TRUE(name_of(static_cast<MessageType>(13)).empty());
  EXPECT_TRUE(name_of(static_cast<MessageType>(255)).empty());
}

TEST(WireCheck, OnlyRequestsAboutAllDevicesMayUseDeviceMinusOne) {
  for (std::uint8_t type = 1; type <= 12; ++type) {
    Message message = of(static_cast<MessageType>(type));
    if (type == 4 || type == 7) continue;
    message.head.device_id = -1;
    const bool may = type == 5 || type == 6 || type == 12;
    EXPECT_EQ(fault_of(message), may ? MessageFault::none : MessageFault::device) << int{type};
    message.head.device_id = kMaxDeviceId + 1;
    EXPECT_EQ(fault_of(message), MessageFault::device) << int{type};
    message.head.device_id = kMaxDeviceId;
    EXPECT_EQ(fault_of(message), MessageFault::none) << int{type};
  }
}

TEST(WireCheck, BoundsAreExact) {
  Message message = of(MessageType::alloc);
  message.head.size = kMaxBytes;
  message.head.buffer_type = kMaxBufferType;
  message.head.process_id = kMaxPid;
  EXPECT_EQ(fault_of(message), MessageFault::none);
  message.head.size = kMaxBytes + 1;
  EXPECT_EQ(fault_of(message), MessageFault::size);
  message = of(MessageType::alloc);
  message.head.buffer_type = kMaxBufferType + 1;
  EXPECT_EQ(fault_of(message), MessageFault::buffer_type);
  message = of(MessageType::kernel_load);
  message.head.buffer_type = kMaxRole;
  EXPECT_EQ(fault_of(message), MessageFault::none);
  message.head.buffer_type = kMaxRole + 1;
  EXPECT_EQ(fault_of(message), MessageFault::role);
  message = of(MessageType::alloc);
  message.head.process_id = kMaxPid + 1;
  EXPECT_EQ(fault_of(message), MessageFault::pid);
  message.head.process_id = -1;
  EXPECT_EQ(fault_of(message), MessageFault::pid);
  message.head.process_id = 0;  // the pid is unknown
  EXPECT_EQ(fault_of(message), MessageFault::none);
}

TEST(WireCheck, AFreeFromAnOriginalClientNeedsNoType) {
  Message message = of(MessageType::free);
  message.head.buffer_type = 200;
  EXPECT_EQ(fault_of(message), MessageFault::none);
  message.answer.mark = kDetailsMark;
  EXPECT_EQ(fault_of(message), MessageFault::buffer_type);
}

TEST(WireCheck, DetectsTwoShortMessagesInOne) {
  for (const std::size_t size : {kMessageBytes / 2, kMessageBytes / 3}) {
    Message message = of(MessageType::alloc);
    const Head second = of(MessageType::free).head;
    std::memcpy(reinterpret_cast<std::byte*>(&message) + size, &second, sizeof second);
    EXPECT_EQ(fault_of(message), MessageFault::too_short) << size;
  }
}

TEST(WireCheck, DetailsMustBeConsistent) {
  Message message = detailed(MessageType::cb_alloc);
  message.allocation.cb.count = 3;
  message.allocation.cb.index = 2;
  EXPECT_EQ(fault_of(message), MessageFault::none);
  message.allocation.cb.index = 3;
  EXPECT_EQ(fault_of(message), MessageFault::details);
  message = detailed(MessageType::alloc);
  message.allocation.banks = kMaxBanks + 1;
  EXPECT_EQ(fault_of(message), MessageFault::details);
  message = detailed(MessageType::alloc);
  message.allocation.bytes_per_bank = kMaxBytes + 1;
  EXPECT_EQ(fault_of(message), MessageFault::size);
  message = detailed(MessageType::device_info_response);
  message.device.is_available = 5;
  EXPECT_EQ(fault_of(message), MessageFault::details);
}

TEST(WirePeer, KnowsThePidOfAProcessInItsContainer) {
  using serve::parse_own_pid;
  EXPECT_EQ(parse_own_pid("Name:\tx\nNSpid:\t4711\t23\t1\nVmPeak: 1\n"), 1);
  EXPECT_EQ(parse_own_pid("Name:\tx\nNSpid:\t4711\n"), 4711);
  EXPECT_EQ(parse_own_pid("Name:\tx\nNSpid:\t\n"), std::nullopt);
  EXPECT_EQ(parse_own_pid("Name:\tNSpid:\t7\n"), std::nullopt);
  EXPECT_EQ(parse_own_pid(""), std::nullopt);
}

TEST(WirePeer, OnlyRootReportsForOtherProcesses) {
  using serve::Peer;
  using serve::process_of;
  const pid_t me = ::getpid();
  EXPECT_EQ(process_of(Peer{me, 1000}, me, 0)->pid, me);
  EXPECT_EQ(process_of(Peer{me, 1000}, 0, 0)->pid, me);
  EXPECT_FALSE(process_of(Peer{me, 1000}, 1, 0));
  EXPECT_EQ(process_of(Peer{me, 0}, 1, 0)->pid, 1);
  EXPECT_EQ(process_of(Peer{me, 0}, 4194303, 0)->start_time_ticks, 0U);
  EXPECT_GT(process_of(Peer{me, 0}, me, 0)->start_time_ticks, 0U);
}

TEST(WirePeer, AServerThatIsNotRootServesOnlyItsOwnUser) {
  using serve::Peer;
  using serve::process_of;
  const pid_t me = ::getpid();
  EXPECT_TRUE(process_of(Peer{me, 1000}, me, 1000));
  EXPECT_FALSE(process_of(Peer{me, 1001}, me, 1000));
  EXPECT_FALSE(process_of(Peer{me, 0}, me, 1000));
  EXPECT_FALSE(process_of(Peer{me, 1000}, 1, 1000));
}

TEST(WirePeer, AProcessOfAnUnseenNamespaceReportsOnlyForItself) {
  const auto process = serve::process_of(serve::Peer{0, 1000}, 23, 0);
  ASSERT_TRUE(process);
  EXPECT_EQ(process->pid, 23);
  EXPECT_EQ(process->start_time_ticks, 0U);
}

}  // namespace
}  // namespace ttmem::wire
