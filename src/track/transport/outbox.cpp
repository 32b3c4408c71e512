// SPDX-License-Identifier: Apache-2.0
#include "track/transport/outbox.hpp"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.hpp"

namespace ttmem::transport {
namespace {

using segment::AllocationSlot;
using segment::CbRecord;
using segment::DeviceRecord;
using segment::DeviceState;
using segment::ProgramSlot;

// The value of `reported` after the walk. All slots, present and future, are below this value.
constexpr std::uint32_t kAll = 0xffffffff;

// The maximum number of slots of a slice. A slice is short, so that a tracked call that waits for
// the lock loses little time.
constexpr std::uint32_t kSliceSlots = 256;
constexpr std::size_t kSliceMessages = 256;
// The maximum number of messages of a slice. The CBs of the last program in a slice may exceed
// kSliceMessages, and the last slice also queues devices and `complete`.
constexpr std::size_t kLargestSlice =
    kSliceMessages + segment::kMaxCbsPerProgram + segment::kMaxDevices + 1;
// If the queue has at least this many messages, the resend pauses, so that changes have room.
constexpr std::size_t kResendBelow = 2048;

std::uint64_t unix_now_ns() noexcept { return clock_ns(CLOCK_REALTIME_COARSE); }

bool is_open(const DeviceRecord& device) noexcept {
  return device.state == static_cast<std::uint32_t>(DeviceState::open);
}

}  // namespace

Outbox::Outbox(segment::SegmentWriter& segment, Wakeup& wakeup,
               std::unique_ptr<MessageRing> ring) noexcept
    : segment_(segment), wakeup_(wakeup), ring_(std::move(ring)) {
  const segment::Header& header = segment_.header();
  sender_ = {header.pid, header.created_unix_ns - header.created_ns,
             header.created_ns ^ reinterpret_cast<std::uintptr_t>(this)};
}

std::uint64_t Outbox::dropped() const noexcept {
  const segment::Header& header = segment_.header();
  return dropped_ + header.dropped_allocations + header.dropped_programs + header.dropped_calls;
}

inline bool Outbox::is_reported(std::uint32_t slot, std::uint32_t reported) noexcept {
  if (slot < reported) [[likely]] {
    return true;
  }
  if (state_ == State::overflowed) ++dropped_;
  return false;
}

inline bool Outbox::make_room(std::size_t messages) noexcept {
  if (messages <= ring_->room()) [[likely]] {
    return true;
  }
  state_ = State::overflowed;
  reported_allocations_ = 0;
  reported_programs_ = 0;
  dropped_ += ring_->size() + messages;
  wakeup_.notify();
  return false;
}

inline void Outbox::queued() noexcept {
  if (ring_->size() < wake_at_) [[likely]] {
    return;
  }
  wake_at_ = kNever;
  wakeup_.notify();
}

void Outbox::device_changed(std::uint32_t record) noexcept {
  const DeviceRecord& device = segment_.device(record);
  if (state_ == State::overflowed) ++dropped_;
  if (state_ != State::connected) return;
  // Sends nothing about a device that the process never announced. There are no facts to send, and
  // the server opens the device at the first report.
  if (is_open(device) && device.announced == 0) return;
  if (make_room(1)) queue_device(record);
}

void Outbox::allocation_added(std::uint32_t slot) noexcept {
  if (is_reported(slot, reported_allocations_) && make_room(1)) {
    queue_allocation(segment_.allocation(slot));
  }
}

void Outbox::allocation_changed(std::uint32_t slot) noexcept {
  if (!is_reported(slot, reported_allocations_) || !make_room(2)) return;
  queue_free(segment_.allocation(slot));
  queue_allocation(segment_.allocation(slot));
}

void Outbox::allocation_removed(std::uint32_t slot) noexcept {
  if (is_reported(slot, reported_allocations_) && make_room(1))
    queue_free(segment_.allocation(slot));
}

// Queues only the new CBs. At the server, they replace the earlier CBs, as in this process. A free
// of the earlier CBs would also remove the program from its other devices.
void Outbox::program_placed(std::uint32_t slot) noexcept {
  if (is_reported(slot, reported_programs_)) queue_place(segment_.program(slot));
}

void Outbox::program_removed(std::uint32_t slot) noexcept {
  if (!is_reported(slot, reported_programs_)) return;
  const ProgramSlot& program = segment_.program(slot);
  const DeviceRecord& device = segment_.device(program.device);
  const std::uint64_t now = unix_now_ns();
  queue_cbs(program, [&](wire::Message& message, const CbRecord* cb, std::uint32_t index) {
    write_cb_free(message, sender_, device, program, cb, index, now);
  });
}

void Outbox::queue_place(const ProgramSlot& program) noexcept {
  const DeviceRecord& device = segment_.device(program.device);
  queue_cbs(program, [&](wire::Message& message, const CbRecord* cb, std::uint32_t index) {
    write_cb_alloc(message, sender_, device, program, cb, index);
  });
}

// Queues a message for each CB, or one message for a program without CBs.
template <typename Write>
void Outbox::queue_cbs(const ProgramSlot& program, Write&& write) noexcept {
  if (!make_room(std::max<std::size_t>(program.cb_count, 1))) return;
  if (program.cb_count == 0) write(ring_->push(), nullptr, 0);
  for (std::uint32_t i = 0; i < program.cb_count; ++i) {
    write(ring_->push(), &segment_.cb(program.first_cb + i), i);
  }
  queued();
}

void Outbox::queue_device(std::uint32_t record) noexcept {
  const DeviceRecord& device = segment_.device(record);
  sent_reports_[record] = reports_of(device);
  write_device(ring_->push(), sender_, device, dropped(), dropped_, unix_now_ns());
  queued();
}

void Outbox::queue_missed_kinds() noexcept {
  for (std::uint32_t i = 0; i < segment_.device_count(); ++i) {
    const DeviceRecord& device = segment_.device(i);
    const bool is_told = is_open(device) && device.announced != 0;
    if (is_told && reports_of(device) != sent_reports_[i]) queue_device(i);
  }
}

void Outbox::queue_notice(wire::ClientNotice report) noexcept {
  write_notice(ring_->push(), sender_, report, unix_now_ns());
  queued();
}

void Outbox::say_goodbye() noexcept {
  disconnected();
  queue_notice(wire::ClientNotice::goodbye);
}

// Returns the label if it is a long label, otherwise an empty text.
std::string_view Outbox::long_label(const AllocationSlot& slot) const noexcept {
  if ((slot.flags & segment::kLongLabel) == 0) [[likely]] {
    return {};
  }
  std::uint32_t number = 0;
  std::memcpy(&number, slot.label, sizeof number);
  const segment::TextRecord& record = segment_.text(number - 1);
  return {record.text, record.length};
}

void Outbox::queue_allocation(const AllocationSlot& slot) noexcept {
  write_allocation(ring_->push(), sender_, segment_.device(slot.device), slot, long_label(slot));
  queued();
}

void Outbox::queue_free(const AllocationSlot& slot) noexcept {
  write_free(ring_->push(), sender_, segment_.device(slot.device), slot, unix_now_ns());
  queued();
}

void Outbox::connected() noexcept {
  state_ = State::connected;
  reported_allocations_ = 0;
  reported_programs_ = 0;
  queue_notice(wire::ClientNotice::hello);
  for (std::uint32_t i = 0; i < segment_.device_count(); ++i) {
    if (is_open(segment_.device(i))) device_changed(i);
  }
}

void Outbox::disconnected() noexcept {
  state_ = State::away;
  reported_allocations_ = 0;
  reported_programs_ = 0;
  ring_->clear();
}

// Queues the next slice, which begins at slot `reported`.
template <typename Queue>
void Outbox::walk(std::uint32_t& reported, std::uint32_t slots, Queue&& queue_slot) noexcept {
  const std::size_t enough = ring_->size() + kSliceMessages;
  const std::uint32_t end = slots - reported > kSliceSlots ? reported + kSliceSlots : slots;
  while (reported < end && ring_->size() < enough) {
    queue_slot(reported++);
  }
  if (reported == slots) reported = kAll;
}

bool Outbox::advance() noexcept {
  if (reported_allocations_ == kAll && reported_programs_ == kAll) return false;
  const bool waits = ring_->size() >= kResendBelow || ring_->room() < kLargestSlice;
  if (state_ != State::connected || waits) return true;
  if (reported_allocations_ != kAll) {
    walk(reported_allocations_, segment_.allocation_count(), [this](std::uint32_t i) {
      const AllocationSlot& slot = segment_.allocation(i);
      if (slot.live != 0) queue_allocation(slot);
    });
  } else {
    walk(reported_programs_, segment_.program_count(), [this](std::uint32_t i) {
      const ProgramSlot& slot = segment_.program(i);
      if (slot.live != 0) queue_place(slot);
    });
    if (reported_programs_ == kAll) {
      queue_missed_kinds();
      queue_notice(wire::ClientNotice::complete);
    }
  }
  return true;
}

}  // namespace ttmem::transport
