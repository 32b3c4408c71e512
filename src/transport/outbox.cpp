// SPDX-License-Identifier: Apache-2.0
#include "transport/outbox.hpp"

#include <time.h>

#include <algorithm>
#include <utility>

namespace ttmem::transport {
namespace {

using segment::AllocationSlot;
using segment::CbRecord;
using segment::DeviceRecord;
using segment::DeviceState;
using segment::ProgramSlot;

// Walked over completely: every slot there is, and will be.
constexpr std::uint32_t kAll = 0xffffffff;

// A slice is short enough that a call that waits for the lock does not notice.
constexpr std::uint32_t kSliceSlots = 256;
constexpr std::size_t kSliceMessages = 256;
// The last program of a slice may have this many more.
constexpr std::size_t kLargestSlice = kSliceMessages + segment::kMaxCbsPerProgram;
// With so much to send meanwhile, the replay leaves the room to what happens.
constexpr std::size_t kReplayBelow = 2048;

std::uint64_t unix_now_ns() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

bool is_open(const DeviceRecord& device) noexcept {
  return device.state == static_cast<std::uint32_t>(DeviceState::kOpen);
}

}  // namespace

Outbox::Outbox(segment::SegmentWriter& segment, Bell& bell,
               std::unique_ptr<MessageRing> ring) noexcept
    : segment_(segment), bell_(bell), ring_(std::move(ring)) {
  const segment::Header& header = segment_.header();
  speaker_ = {header.pid, header.created_unix_ns - header.created_ns};
}

std::uint64_t Outbox::dropped() const noexcept {
  const segment::Header& header = segment_.header();
  return dropped_ + header.dropped_allocations + header.dropped_programs + header.dropped_calls;
}

inline bool Outbox::is_told(std::uint32_t slot, std::uint32_t told) noexcept {
  if (slot < told) [[likely]] {
    return true;
  }
  if (state_ == State::kOverflowed) ++dropped_;
  return false;
}

inline bool Outbox::make_room(std::size_t messages) noexcept {
  if (messages <= ring_->room()) [[likely]] {
    return true;
  }
  state_ = State::kOverflowed;
  told_allocations_ = 0;
  told_programs_ = 0;
  dropped_ += ring_->size() + messages;
  bell_.ring();
  return false;
}

inline void Outbox::queued() noexcept {
  if (ring_->size() < wake_at_) [[likely]] {
    return;
  }
  wake_at_ = kNever;
  bell_.ring();
}

void Outbox::device_changed(std::uint32_t record) noexcept {
  const DeviceRecord& device = segment_.device(record);
  if (state_ == State::kOverflowed) ++dropped_;
  if (state_ != State::kConnected) return;
  // Of a device that was only named nothing is known: the server opens it in the same way.
  if (is_open(device) && device.announced == 0) return;
  if (make_room(1)) queue_device(device);
}

void Outbox::allocation_added(std::uint32_t slot) noexcept {
  if (is_told(slot, told_allocations_) && make_room(1)) {
    queue_allocation(segment_.allocation(slot));
  }
}

void Outbox::allocation_changed(std::uint32_t slot) noexcept {
  if (!is_told(slot, told_allocations_) || !make_room(2)) return;
  queue_free(segment_.allocation(slot));
  queue_allocation(segment_.allocation(slot));
}

void Outbox::allocation_removed(std::uint32_t slot) noexcept {
  if (is_told(slot, told_allocations_) && make_room(1)) queue_free(segment_.allocation(slot));
}

// Another layout of a placed program replaces the earlier one at the server, as it did here. A free
// of the earlier one would take the program from its other devices too.
void Outbox::program_placed(std::uint32_t slot) noexcept {
  if (is_told(slot, told_programs_)) queue_place(segment_.program(slot));
}

void Outbox::program_removed(std::uint32_t slot) noexcept {
  if (!is_told(slot, told_programs_)) return;
  const ProgramSlot& program = segment_.program(slot);
  const DeviceRecord& device = segment_.device(program.device);
  const std::uint64_t now = unix_now_ns();
  queue_cbs(program, [&](wire::Message& message, const CbRecord* cb, std::uint32_t index) {
    write_cb_free(message, speaker_, device, program, cb, index, now);
  });
}

void Outbox::queue_place(const ProgramSlot& program) noexcept {
  const DeviceRecord& device = segment_.device(program.device);
  queue_cbs(program, [&](wire::Message& message, const CbRecord* cb, std::uint32_t index) {
    write_cb_alloc(message, speaker_, device, program, cb, index);
  });
}

// A message for each CB; one for a program that has none.
template <typename Write>
void Outbox::queue_cbs(const ProgramSlot& program, Write&& write) noexcept {
  if (!make_room(std::max<std::size_t>(program.cb_count, 1))) return;
  if (program.cb_count == 0) write(ring_->push(), nullptr, 0);
  for (std::uint32_t i = 0; i < program.cb_count; ++i) {
    write(ring_->push(), &segment_.cb(program.first_cb + i), i);
  }
  queued();
}

void Outbox::queue_device(const DeviceRecord& device) noexcept {
  write_device(ring_->push(), speaker_, device, dropped(), unix_now_ns());
  queued();
}

void Outbox::queue_allocation(const AllocationSlot& slot) noexcept {
  write_allocation(ring_->push(), speaker_, segment_.device(slot.device), slot);
  queued();
}

void Outbox::queue_free(const AllocationSlot& slot) noexcept {
  write_free(ring_->push(), speaker_, segment_.device(slot.device), slot, unix_now_ns());
  queued();
}

void Outbox::connected() noexcept {
  state_ = State::kConnected;
  told_allocations_ = 0;
  told_programs_ = 0;
  for (std::uint32_t i = 0; i < segment_.header().device_count; ++i) {
    if (is_open(segment_.device(i))) device_changed(i);
  }
}

void Outbox::disconnected() noexcept {
  state_ = State::kAway;
  told_allocations_ = 0;
  told_programs_ = 0;
  ring_->clear();
}

// Walks from `told` on, as far as a slice goes.
template <typename Queue>
void Outbox::walk(std::uint32_t& told, std::uint32_t slots, Queue&& queue_slot) noexcept {
  const std::size_t enough = ring_->size() + kSliceMessages;
  const std::uint32_t end = slots - told > kSliceSlots ? told + kSliceSlots : slots;
  while (told < end && ring_->size() < enough) {
    queue_slot(told++);
  }
  if (told == slots) told = kAll;
}

bool Outbox::advance() noexcept {
  if (told_allocations_ == kAll && told_programs_ == kAll) return false;
  const bool waits = ring_->size() >= kReplayBelow || ring_->room() < kLargestSlice;
  if (state_ != State::kConnected || waits) return true;
  if (told_allocations_ != kAll) {
    walk(told_allocations_, segment_.header().allocation_count, [this](std::uint32_t i) {
      const AllocationSlot& slot = segment_.allocation(i);
      if (slot.live != 0) queue_allocation(slot);
    });
  } else {
    walk(told_programs_, segment_.header().program_count, [this](std::uint32_t i) {
      const ProgramSlot& slot = segment_.program(i);
      if (slot.live != 0) queue_place(slot);
    });
  }
  return true;
}

}  // namespace ttmem::transport
