// SPDX-License-Identifier: Apache-2.0
//
// The messages that a server accepts.
#include <gtest/gtest.h>

#include "serve/socket/peer.hpp"
#include "track/wire/check.hpp"

namespace ttmem::wire {
namespace {

Message of(Type type) {
  Message message{};
  message.head.type = static_cast<std::uint8_t>(type);
  message.head.process_id = 4711;
  return message;
}

Message detailed(Type type) {
  Message message = of(type);
  message.answer.mark = kDetailsMark;
  return message;
}

TEST(WireCheck, AcceptsEveryMessageThatAClientSends) {
  for (std::uint8_t type = 1; type <= 12; ++type) {
    const bool answer = type == 4 || type == 7;
    EXPECT_EQ(fault_of(of(static_cast<Type>(type))), answer ? Fault::answer : Fault::none)
        << int{type};
  }
  EXPECT_EQ(fault_of(detailed(Type::device_info_response)), Fault::none);
}

TEST(WireCheck, EveryTypeHasItsName) {
  EXPECT_EQ(name_of(Type::alloc), "ALLOC");
  EXPECT_EQ(name_of(Type::cb_free), "CB_FREE");
  EXPECT_EQ(name_of(Type::dump_kernels), "DUMP_KERNELS");
  EXPECT_TRUE(name_of(static_cast<Type>(0)).empty());
  EXPECT_TRUE(name_of(static_cast<Type>(13)).empty());
  EXPECT_TRUE(name_of(static_cast<Type>(255)).empty());
}

TEST(WireCheck, OnlyRequestsAboutAllDevicesMayUseDeviceMinusOne) {
  for (std::uint8_t type = 1; type <= 12; ++type) {
    Message message = of(static_cast<Type>(type));
    if (type == 4 || type == 7) continue;
    message.head.device_id = -1;
    const bool may = type == 5 || type == 6 || type == 12;
    EXPECT_EQ(fault_of(message), may ? Fault::none : Fault::device) << int{type};
    message.head.device_id = kMaxDeviceId + 1;
    EXPECT_EQ(fault_of(message), Fault::device) << int{type};
    message.head.device_id = kMaxDeviceId;
    EXPECT_EQ(fault_of(message), Fault::none) << int{type};
  }
}

TEST(WireCheck, BoundsAreExact) {
  Message message = of(Type::alloc);
  message.head.size = kMaxBytes;
  message.head.buffer_type = kMaxBufferType;
  message.head.process_id = kMaxPid;
  EXPECT_EQ(fault_of(message), Fault::none);
  message.head.size = kMaxBytes + 1;
  EXPECT_EQ(fault_of(message), Fault::size);
  message = of(Type::alloc);
  message.head.buffer_type = kMaxBufferType + 1;
  EXPECT_EQ(fault_of(message), Fault::buffer_type);
  message = of(Type::kernel_load);
  message.head.buffer_type = kMaxRole;
  EXPECT_EQ(fault_of(message), Fault::none);
  message.head.buffer_type = kMaxRole + 1;
  EXPECT_EQ(fault_of(message), Fault::role);
  message = of(Type::alloc);
  message.head.process_id = kMaxPid + 1;
  EXPECT_EQ(fault_of(message), Fault::pid);
  message.head.process_id = -1;
  EXPECT_EQ(fault_of(message), Fault::pid);
  message.head.process_id = 0;  // unknown
  EXPECT_EQ(fault_of(message), Fault::none);
}

TEST(WireCheck, AFreeFromAnOriginalClientNeedsNoType) {
  Message message = of(Type::free);
  message.head.buffer_type = 200;
  EXPECT_EQ(fault_of(message), Fault::none);
  message.answer.mark = kDetailsMark;
  EXPECT_EQ(fault_of(message), Fault::buffer_type);
}

TEST(WireCheck, DetectsTwoShortMessagesInOne) {
  for (const std::size_t size : {kMessageBytes / 2, kMessageBytes / 3}) {
    Message message = of(Type::alloc);
    const Head second = of(Type::free).head;
    std::memcpy(reinterpret_cast<std::byte*>(&message) + size, &second, sizeof second);
    EXPECT_EQ(fault_of(message), Fault::too_short) << size;
  }
}

TEST(WireCheck, DetailsMustBeConsistent) {
  Message message = detailed(Type::cb_alloc);
  message.allocation.cb.count = 3;
  message.allocation.cb.index = 2;
  EXPECT_EQ(fault_of(message), Fault::none);
  message.allocation.cb.index = 3;
  EXPECT_EQ(fault_of(message), Fault::details);
  message = detailed(Type::alloc);
  message.allocation.banks = kMaxBanks + 1;
  EXPECT_EQ(fault_of(message), Fault::details);
  message = detailed(Type::alloc);
  message.allocation.bytes_per_bank = kMaxBytes + 1;
  EXPECT_EQ(fault_of(message), Fault::size);
  message = detailed(Type::device_info_response);
  message.device.is_available = 5;
  EXPECT_EQ(fault_of(message), Fault::details);
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
