// SPDX-License-Identifier: Apache-2.0
//
// What the server of this process is still to be told, and how a server that knows nothing comes to
// know everything while the workload goes on.
//
// Roles: tracked calls change the segment and tell the outbox; the sender takes messages out and
// lets the replay advance. Both hold the tracker's lock, each time for a short while; nothing here
// waits, makes a system call but to wake the sender, or throws.
//
// The replay walks the slots of the segment in the order of their numbers, a slice at a time. Slots
// below `told` have been walked over. A change is put into the same queue as the replay:
//
//  1. At all times: what a server knows that has received all messages of the queue, is exactly
//     what is live in slots below `told`.
//  2. A change of a slot below `told` is queued. One of another slot is not: the walk will find the
//     slot as it is by then. So nothing is told twice, and nothing is freed that was not told.
//  3. A slice queues what is live in it and moves `told` behind it, under one lock: 1 holds again.
//  4. Without a connection `told` is 0: nothing is queued, whatever happens.
//  5. Devices are told at once at the beginning, before anything that lies on them.
//  6. The messages of one program are queued together or not at all.
//
// When the queue is full the server is too slow. The connection is given up as a whole, because
// half of the changes are worth nothing; `told` is 0 again, what is lost is counted, and the sender
// connects anew, which makes the server's account complete again.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "segment/writer/segment_writer.hpp"
#include "tracker/observer.hpp"
#include "transport/bell.hpp"
#include "transport/message_ring.hpp"
#include "transport/messages.hpp"

namespace ttmem::transport {

// Not thread-safe: every call is made under the tracker's lock.
class Outbox final : public tracker::Observer {
 public:
  // `segment` and `bell` must outlive it.
  Outbox(segment::SegmentWriter& segment, Bell& bell, std::unique_ptr<MessageRing> ring) noexcept;

  void device_changed(std::uint32_t record) noexcept override;
  void allocation_added(std::uint32_t slot) noexcept override;
  void allocation_changed(std::uint32_t slot) noexcept override;
  void allocation_removed(std::uint32_t slot) noexcept override;
  void program_placed(std::uint32_t slot) noexcept override;
  void program_removed(std::uint32_t slot) noexcept override;

  // A server listens, and knows nothing yet.
  void connected() noexcept;
  // It does not any longer. What was not sent is forgotten: the next replay covers it.
  void disconnected() noexcept;

  // Queues the next slice of the replay, unless much is queued already. False when there is none.
  bool advance() noexcept;

  [[nodiscard]] std::span<const wire::Message> front() const noexcept { return ring_->front(); }
  void pop(std::size_t count) noexcept { ring_->pop(count); }
  [[nodiscard]] bool empty() const noexcept { return ring_->size() == 0; }

  // The queue was full: to be disconnected.
  [[nodiscard]] bool overflowed() const noexcept { return state_ == State::kOverflowed; }
  // Changes that no server was told one by one although one was connected, and what the segment
  // itself could not hold.
  [[nodiscard]] std::uint64_t dropped() const noexcept;

  // The bell rings once, when this many messages are queued.
  void wake_at(std::size_t messages) noexcept { wake_at_ = messages; }

  static constexpr std::size_t kNever = ~std::size_t{0};

 private:
  enum class State : std::uint8_t { kAway, kConnected, kOverflowed };

  // Whether a slot with that number has been told.
  [[nodiscard]] bool is_told(std::uint32_t slot, std::uint32_t told) noexcept;
  [[nodiscard]] bool make_room(std::size_t messages) noexcept;
  void queued() noexcept;
  void queue_device(const segment::DeviceRecord& device) noexcept;
  void queue_allocation(const segment::AllocationSlot& slot) noexcept;
  void queue_free(const segment::AllocationSlot& slot) noexcept;
  template <typename Write>
  void queue_cbs(const segment::ProgramSlot& slot, Write&& write) noexcept;
  void queue_place(const segment::ProgramSlot& slot) noexcept;
  template <typename Queue>
  void walk(std::uint32_t& told, std::uint32_t slots, Queue&& queue_slot) noexcept;

  segment::SegmentWriter& segment_;
  Bell& bell_;
  std::unique_ptr<MessageRing> ring_;
  Speaker speaker_;
  State state_ = State::kAway;
  std::uint32_t told_allocations_ = 0;
  std::uint32_t told_programs_ = 0;
  std::uint64_t dropped_ = 0;
  std::size_t wake_at_ = kNever;
};

}  // namespace ttmem::transport
