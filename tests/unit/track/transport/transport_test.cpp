// SPDX-License-Identifier: Apache-2.0
//
// Tests the socket transport without a socket: its messages, its queue and its resend. Random
// histories compare the transport with a model of a server.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include "support/device_calls.hpp"
#include "support/reported_account.hpp"
#include "track/tracker/id_tracker.hpp"
#include "track/transport/message_ring.hpp"
#include "track/transport/messages.hpp"
#include "track/transport/outbox.hpp"

namespace ttmem::transport {
namespace {

using wire::Message;

using fixtures::kGrid;
using fixtures::wormhole;

constexpr ttmem_core_range kCore = {1, 0, 1, 0};

ttmem_buffer buffer(ttmem_buffer_type type, std::uint64_t id, std::uint64_t bytes) {
  return fixtures::buffer(type, id, 0, bytes, 0);
}

TEST(MessageRing, ReturnsMessagesInOrderAcrossItsEnd) {
  const auto ring = MessageRing::create(8);
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  for (std::size_t round = 0; round < 50; ++round) {
    while (ring->room() > 0) ring->push().head.size = in++;
    EXPECT_EQ(ring->size(), 8U);
    const auto front = ring->front();
    ASSERT_FALSE(front.empty());
    const std::size_t take = std::min<std::size_t>(front.size(), 1 + round % 5);
    for (std::size_t i = 0; i < take; ++i) EXPECT_EQ(front[i].head.size, out++);
    ring->pop(take);
  }
  ring->clear();
  EXPECT_TRUE(ring->front().empty());
}

TEST(MessageRing, StartsAtItsBeginningWhenItIsEmpty) {
  const auto ring = MessageRing::create(8);
  Message* const first = &ring->push();
  (void)ring->push();
  ring->pop(2);
  EXPECT_EQ(&ring->push(), first);
}

TEST(TransportMessages, AnUnknownNumberOfBanksStaysUnknown) {
  segment::DeviceRecord device{};
  device.id = 5;
  device.dram_channels = 12;  // not known at the time of the allocation
  segment::AllocationSlot slot{};
  slot.kind = TTMEM_DRAM;
  slot.flags = segment::kNoCores;
  slot.bytes = 1000;
  slot.bytes_per_bank = 512;
  Message message;
  write_allocation(message, {}, device, slot);
  EXPECT_EQ(message.allocation.bytes_per_bank, 0U);
  EXPECT_EQ(message.allocation.banks, 0U);
  EXPECT_EQ(message.allocation.flags, segment::kNoCores | segment::kPerBankUnknown);
  slot.banks = 12;
  write_allocation(message, {}, device, slot);
  EXPECT_EQ(message.allocation.bytes_per_bank, 512U);
  EXPECT_EQ(message.allocation.banks, 0U);
  slot.banks = 3;
  write_allocation(message, {}, device, slot);
  EXPECT_EQ(message.allocation.banks, 3U);
}

TEST(TransportMessages, TimesAreWallClockTimes) {
  segment::AllocationSlot slot{};
  slot.when_ns = 30;
  Message message;
  write_allocation(message, {7, 1'000'000}, segment::DeviceRecord{}, slot);
  EXPECT_EQ(message.head.timestamp_unix_ns, 1'000'030U);
  EXPECT_EQ(message.head.process_id, 7);
}

// A tracker with an outbox, and a server that receives the messages while it is connected.
class Reporting {
 public:
  explicit Reporting(std::size_t capacity = 4096) {
    segment::SegmentWriter::Options options;
    options.in_memory = true;
    auto started = tracker::IdTracker::start(options);
    if (!started) throw std::runtime_error(started.error().message);
    tracker_ = std::move(*started);
    outbox_ = std::make_unique<Outbox>(tracker_->segment(), wakeup_, MessageRing::create(capacity));
    tracker_->set_observer(outbox_.get());
  }

  tracker::IdTracker* operator->() { return tracker_.get(); }
  Outbox& outbox() { return *outbox_; }
  ReportedAccount& server() { return server_; }
  ReportedAccount truth() { return ReportedAccount::truth(tracker_->segment()); }

  void connect() {
    outbox_->disconnected();
    server_ = {};
    outbox_->connected();
  }
  void receive(std::size_t at_most) {
    const auto front = outbox_->front();
    const std::size_t count = std::min(front.size(), at_most);
    for (const Message& message : front.first(count)) server_.take(message);
    outbox_->pop(count);
  }
  void receive_all() {
    while (outbox_->advance() || !outbox_->empty()) receive(4096);
  }

 private:
  Wakeup wakeup_;
  std::unique_ptr<tracker::IdTracker> tracker_;
  std::unique_ptr<Outbox> outbox_;
  ReportedAccount server_;
};

TEST(Outbox, IsEmptyWithoutAServer) {
  Reporting reporting;
  reporting->device_open(wormhole(0));
  reporting->buffer_alloc(0, buffer(TTMEM_DRAM, 1, 100));
  EXPECT_TRUE(reporting.outbox().empty());
  reporting.connect();
  reporting.receive_all();
  EXPECT_TRUE(reporting.server().knows_the_same_as(reporting.truth()));
  EXPECT_EQ(reporting.outbox().dropped(), 0U);
}

TEST(Outbox, BuffersFreedBeforeTheResendAreNeverSent) {
  Reporting reporting;
  reporting->device_open(wormhole(0));
  for (std::uint64_t id = 1; id <= 2000; ++id)
    reporting->buffer_alloc(0, buffer(TTMEM_DRAM, id, id));
  reporting.connect();
  ASSERT_TRUE(reporting.outbox().advance());
  for (std::uint64_t id = 1; id <= 2000; ++id) reporting->buffer_free(0, TTMEM_DRAM, id);
  const std::size_t walked = 256;
  reporting.receive_all();
  EXPECT_TRUE(reporting.server().live.empty());
  EXPECT_TRUE(reporting.server().faults.empty());
  EXPECT_TRUE(reporting.server().is_complete);
  const std::size_t others = 3;  // the messages hello, device and complete
  EXPECT_EQ(reporting.server().messages, others + 2 * walked);
}

// Buffers can be freed between the hello and the resend, because the reporting thread may be
// preempted there.
TEST(Outbox, KindsOfBuffersFreedBetweenHelloAndResendAreReported) {
  Reporting reporting;
  reporting->device_open(wormhole(0));
  reporting.connect();
  reporting->buffer_alloc(0, buffer(TTMEM_L1, 1, 100));
  reporting->buffer_free(0, TTMEM_L1, 1);
  reporting.receive_all();
  EXPECT_TRUE(reporting.server().live.empty());
  EXPECT_EQ(reporting.server().kinds[0], 1U << TTMEM_L1);
}

TEST(Outbox, ASlowServerIsDisconnectedAndGetsTheNumberOfLostEvents) {
  Reporting reporting(2048);
  reporting->device_open(wormhole(0));
  reporting.connect();
  reporting.receive_all();
  for (std::uint64_t id = 1; id <= 3000; ++id)
    reporting->buffer_alloc(0, buffer(TTMEM_DRAM, id, id));
  EXPECT_TRUE(reporting.outbox().overflowed());
  EXPECT_EQ(reporting.outbox().dropped(), 3000U);
  reporting.connect();
  EXPECT_FALSE(reporting.outbox().overflowed());
  EXPECT_EQ(reporting.outbox().front()[1].device.events_resent, 3000U);
  reporting.receive(2);  // the messages hello and device
  EXPECT_EQ(reporting.server().events_dropped, 3000U);
}

TEST(Outbox, AProgramWithoutRoomIsNotSentInPart) {
  Reporting reporting(2048);
  reporting->device_open(wormhole(0));
  reporting.connect();
  reporting.receive_all();
  std::array<ttmem_cb, 1024> cbs{};
  cbs.fill({105664, 32, &kGrid, 1, 0});
  reporting->program_place(0, 1, cbs);
  reporting->program_place(0, 2, cbs);
  reporting->program_place(0, 3, cbs);
  EXPECT_TRUE(reporting.outbox().overflowed());
  reporting.receive(4096);
  EXPECT_TRUE(reporting.server().coming.empty());
  EXPECT_EQ(reporting.server().programs.size(), 2U);
}

TEST(Outbox, AGridThatBecomesKnownRenumbersTheCores) {
  Reporting reporting;
  ttmem_buffer sharded = buffer(TTMEM_L1, 1, 64);
  const ttmem_core_range cores = {1, 1, 1, 1};
  sharded.cores = &cores;
  sharded.core_ranges = 1;
  reporting->buffer_alloc(0, sharded);
  reporting.connect();
  reporting.receive_all();
  reporting->device_open(wormhole(0));
  const auto front = reporting.outbox().front();
  ASSERT_EQ(front.size(), 3U);
  EXPECT_EQ(front[0].type(), wire::MessageType::device_info_response);
  EXPECT_EQ(front[1].type(), wire::MessageType::free);
  EXPECT_EQ(front[2].type(), wire::MessageType::alloc);
  EXPECT_EQ(front[2].allocation.cores[0], 1ULL << 9);
}

TEST(Outbox, AGoodbyeReplacesWaitingMessages) {
  Reporting reporting;
  reporting->device_open(wormhole(0));
  reporting.connect();
  reporting.receive_all();
  for (std::uint64_t id = 1; id <= 10; ++id) reporting->buffer_alloc(0, buffer(TTMEM_DRAM, id, id));
  reporting.outbox().say_goodbye();
  reporting->buffer_alloc(0, buffer(TTMEM_DRAM, 11, 11));
  EXPECT_EQ(reporting.outbox().front().size(), 1U);
  reporting.receive(1);
  EXPECT_TRUE(reporting.server().live.empty());
  EXPECT_TRUE(reporting.server().has_left);
}

// When a device is closed, no free of its programs may be sent. The free of a program names the
// program but no device, so the server would remove the program from all devices.
TEST(Outbox, AClosedDeviceIsOneMessage) {
  Reporting reporting;
  const ttmem_cb cb = {105664, 32, &kGrid, 1, 0};
  for (std::uint32_t id = 0; id < 2; ++id) {
    reporting->device_open(wormhole(id));
    reporting->program_place(id, 9, {&cb, 1});
    reporting->buffer_alloc(id, buffer(TTMEM_DRAM, 1, 10));
  }
  reporting.connect();
  reporting.receive_all();
  reporting->device_close(0);
  EXPECT_EQ(reporting.outbox().front().size(), 1U);
  reporting.receive_all();
  EXPECT_TRUE(reporting.server().knows_the_same_as(reporting.truth()));
  EXPECT_EQ(reporting.server().programs.size(), 1U);
}

// Makes one random call. Few different ids are used, so that many calls concern the same buffer or
// program.
void call(Reporting& reporting) {
  const auto device = *rc::gen::inRange<std::uint32_t>(0, 3);
  const auto id = *rc::gen::inRange<std::uint64_t>(1, 40);
  const auto bytes = *rc::gen::inRange<std::uint64_t>(1, 100);
  const std::array<ttmem_cb, 2> cbs = {
      {{105664, 32 * bytes, &kGrid, 1, 0}, {205664, 32, &kCore, 1, TTMEM_CB_GLOBAL}}};
  switch (*rc::gen::weightedElement<int>(
      {{6, 0}, {4, 1}, {4, 2}, {2, 3}, {2, 4}, {1, 5}, {2, 6}, {1, 7}, {1, 8}, {1, 9}})) {
    case 0:
      return reporting->buffer_alloc(device, buffer(TTMEM_DRAM, id, bytes));
    case 1:
      return reporting->buffer_free(device, TTMEM_DRAM, id);
    case 2:
      reporting->program_place(device, id, std::span(cbs).first(bytes % 3));
      return;
    case 3:
      return reporting->program_destroy(id);
    case 4:
      reporting->kernel_load(device, id, bytes, TTMEM_KERNEL_APP, false);
      return;
    case 5:
      return reporting->kernel_unload(device, id);
    case 6:
      reporting->cb_alloc(device, id, bytes);
      return;
    case 7:
      return reporting->cb_free(device, id);
    case 8:
      return reporting->device_open(wormhole(device));
    default:
      return reporting->device_close(device);
  }
}

RC_GTEST_PROP(Outbox, AfterAllMessagesAServerKnowsTheLiveAllocations, ()) {
  Reporting reporting(*rc::gen::element<std::size_t>(2048, 65536));
  // One slice of the resend handles fewer than 800 slots, so other calls can come between two
  // slices.
  const auto before = *rc::gen::inRange<std::uint64_t>(0, 800);
  for (std::uint64_t id = 1; id <= before; ++id) {
    reporting->buffer_alloc(0, buffer(TTMEM_L1, id, id));
    if (id % 2 == 0) reporting->program_place(0, 1000 + id, {});
  }
  bool connected = false;
  const auto steps = *rc::gen::inRange(0, 300);
  for (int i = 0; i < steps; ++i) {
    switch (*rc::gen::weightedElement<int>({{20, 0}, {3, 1}, {3, 2}, {1, 3}, {1, 4}, {1, 5}})) {
      case 1:
        reporting.outbox().advance();
        break;
      case 2:
        if (connected) reporting.receive(*rc::gen::inRange<std::size_t>(0, 300));
        break;
      case 3:
        reporting.connect();
        connected = true;
        break;
      case 4:
        reporting->buffer_free(0, TTMEM_L1, *rc::gen::inRange<std::uint64_t>(1, 801));
        break;
      case 5:
        for (int burst = 0; burst < 500; ++burst) {
          reporting->buffer_alloc(1, buffer(TTMEM_TRACE, 1, 1));
          reporting->buffer_free(1, TTMEM_TRACE, 1);
        }
        break;
      default:
        call(reporting);
    }
    if (reporting.outbox().overflowed()) reporting.connect();
    RC_ASSERT(reporting.server().faults.empty());
  }
  if (!connected) reporting.connect();
  for (int i = 0; i < 100 && !reporting.server().knows_the_same_as(reporting.truth()); ++i) {
    if (reporting.outbox().overflowed()) reporting.connect();
    reporting.outbox().advance();
    reporting.receive(4096);
    RC_ASSERT(reporting.server().faults.empty());
  }
  RC_ASSERT(reporting.server().knows_the_same_as(reporting.truth()));
}

}  // namespace
}  // namespace ttmem::transport
