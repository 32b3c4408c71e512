// SPDX-License-Identifier: Apache-2.0
//
// The queue of reports to the server, and the resend, which sends all live objects to a newly
// connected server while the workload runs.
//
// Roles: tracked calls change the segment and notify the outbox; the transport's thread takes
// messages out and advances the resend. Both hold the tracker's lock, for a short time. The outbox
// never waits, never throws, and makes no system call except to wake the transport's thread.
//
// The resend walks over the slots of the segment in the order of their indices, one slice at a
// time. The walk has passed the slots below `reported`. Changes enter the same queue as the resend:
//
//  1. At all times, a server that has received all messages of the queue knows exactly what is live
//     in the slots below `reported`.
//  2. A change of a slot below `reported` is queued. A change of another slot is not queued,
//     because the walk will later find the changed slot. So nothing is reported twice, and nothing
//     is freed without having been reported.
//  3. A slice queues its live slots and moves `reported` past the slice, under one lock. So
//     invariant 1 holds.
//  4. Without a connection `reported` is 0, so nothing is queued.
//  5. Devices are reported first, before the objects on them.
//  6. The messages of one program are queued together or not at all.
//  7. The first message of a connection is a hello. After the walk, `complete` is queued: the
//     server then removes what earlier connections reported and this connection did not report
//     again.
//  8. After `complete` the server knows which kinds this process reports. Kinds whose objects were
//     all freed before the walk are included: their bytes are 0, not unknown.
//
// A full queue means that the server is too slow. The connection is then closed, because a server
// that misses a change has wrong figures. `reported` becomes 0 again, the lost messages are
// counted, and the thread connects again. The resend then makes the server's figures complete.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "segment/writer/segment_writer.hpp"
#include "track/tracker/observer.hpp"
#include "track/transport/message_ring.hpp"
#include "track/transport/messages.hpp"
#include "track/transport/wakeup.hpp"

namespace ttmem::transport {

// Queues and resends reports. Not thread-safe: every call is made under the tracker's lock.
class Outbox final : public tracker::Observer {
 public:
  // `segment` and `wakeup` must outlive the outbox.
  Outbox(segment::SegmentWriter& segment, Wakeup& wakeup,
         std::unique_ptr<MessageRing> ring) noexcept;

  void device_changed(std::uint32_t record) noexcept override;
  void allocation_added(std::uint32_t slot) noexcept override;
  void allocation_changed(std::uint32_t slot) noexcept override;
  void allocation_removed(std::uint32_t slot) noexcept override;
  void program_placed(std::uint32_t slot) noexcept override;
  void program_removed(std::uint32_t slot) noexcept override;

  // Queues the hello and the devices, and starts the resend. Call this function after each
  // connection to a server, because the server knows nothing yet.
  void connected() noexcept;
  // Clears the queue. The next resend covers the messages that were not sent.
  void disconnected() noexcept;

  // Clears the queue, and queues the last message, which says that this process holds nothing any
  // longer. Later changes are not queued.
  void say_goodbye() noexcept;

  // Queues the next slice of the resend, unless the queue is long. Returns false after the last
  // slice.
  bool advance() noexcept;

  // Returns the sender. The sender never changes, so any thread may read it without the lock.
  [[nodiscard]] const Sender& sender() const noexcept { return sender_; }

  [[nodiscard]] std::span<const wire::Message> front() const noexcept { return ring_->front(); }
  void pop(std::size_t count) noexcept { ring_->pop(count); }
  [[nodiscard]] bool empty() const noexcept { return ring_->size() == 0; }

  // Returns true if the queue was full. The caller must then disconnect.
  [[nodiscard]] bool overflowed() const noexcept { return state_ == State::overflowed; }
  // Returns the number of changes that were not sent although a server was connected, plus the
  // numbers of dropped allocations, programs and calls in the header of the segment.
  [[nodiscard]] std::uint64_t dropped() const noexcept;

  // Makes the outbox notify the thread once, as soon as this many messages are queued.
  void wake_at(std::size_t messages) noexcept { wake_at_ = messages; }

  static constexpr std::size_t kNever = ~std::size_t{0};

 private:
  enum class State : std::uint8_t { away, connected, overflowed };

  // Returns true if the server knows the slot, so that changes of the slot must be queued.
  [[nodiscard]] bool is_reported(std::uint32_t slot, std::uint32_t reported) noexcept;
  [[nodiscard]] bool make_room(std::size_t messages) noexcept;
  void queued() noexcept;
  void queue_device(std::uint32_t record) noexcept;
  void queue_missed_kinds() noexcept;
  void queue_notice(wire::ClientNotice report) noexcept;
  [[nodiscard]] std::string_view long_label(const segment::AllocationSlot& slot) const noexcept;
  void queue_allocation(const segment::AllocationSlot& slot) noexcept;
  void queue_free(const segment::AllocationSlot& slot) noexcept;
  template <typename Write>
  void queue_cbs(const segment::ProgramSlot& slot, Write&& write) noexcept;
  void queue_place(const segment::ProgramSlot& slot) noexcept;
  template <typename Queue>
  void walk(std::uint32_t& reported, std::uint32_t slots, Queue&& queue_slot) noexcept;

  segment::SegmentWriter& segment_;
  Wakeup& wakeup_;
  std::unique_ptr<MessageRing> ring_;
  Sender sender_;
  State state_ = State::away;
  std::uint32_t reported_allocations_ = 0;
  std::uint32_t reported_programs_ = 0;
  // Value of reports_of() in the last message about each device record.
  std::array<std::uint32_t, segment::kMaxDevices> sent_reports_{};
  std::uint64_t dropped_ = 0;
  std::size_t wake_at_ = kNever;
};

}  // namespace ttmem::transport
