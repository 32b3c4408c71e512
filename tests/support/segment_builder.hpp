// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "base/core_mask.hpp"
#include "segment/layout/layout.hpp"

namespace ttmem::testing {

// Cuts `text` to a field of a record.
template <std::size_t Size>
void set_text(char (&field)[Size], std::string_view text) {
  for (std::size_t i = 0; i < Size; ++i) field[i] = i < text.size() ? text[i] : '\0';
}

struct CbSpec {
  std::uint32_t address = 0;
  std::uint32_t bytes = 0;
  CoreMask cores = CoreMask::first(64);
  std::uint32_t flags = 0;
};

// Makes the bytes of a segment by hand, from layout.hpp alone, so that the reader is tested
// against the layout and not against our writer. Every record that is handed out may be changed
// until bytes() is called. The chunks of the kinds alternate in the file.
class SegmentBuilder {
 public:
  // A process without devices; magic and sizes are right.
  SegmentBuilder();

  [[nodiscard]] segment::Header& header() { return header_; }

  // An open Wormhole n150: 8 x 8 cores, 12 channels of 1 GiB.
  segment::DeviceRecord& add_device(std::uint32_t id, std::uint64_t uid);

  // A live buffer in every bank. Raises Header::events, and is born then.
  segment::AllocationSlot& add_allocation(std::uint32_t device, Kind kind, std::uint64_t address,
                                          std::uint64_t bytes, std::uint64_t bytes_per_bank);

  // A live program with CBs of its own.
  segment::ProgramSlot& add_program(std::uint32_t device, std::uint64_t program,
                                    const std::vector<CbSpec>& cbs);
  // A live program with the CBs of another.
  segment::ProgramSlot& add_program_like(const segment::ProgramSlot& other, std::uint32_t device,
                                         std::uint64_t program);

  // The number for AllocationSlot::device with kOnSet.
  std::uint32_t add_device_set(const std::vector<std::uint32_t>& devices);

  // The number for ProgramSlot::name.
  std::uint32_t add_name(std::string_view text);

  [[nodiscard]] segment::AllocationSlot& allocation(std::size_t i) { return allocations_[i]; }
  [[nodiscard]] segment::DeviceRecord& device(std::size_t i) { return devices_[i]; }
  [[nodiscard]] segment::CbRecord& cb(std::size_t i) { return cbs_[i]; }
  [[nodiscard]] segment::TextRecord& text(std::size_t i) { return texts_[i]; }
  [[nodiscard]] segment::DeviceSetRecord& device_set(std::size_t i) { return device_sets_[i]; }

  // Fills the ring (1024 records) as if the events 1 to `newest` had happened.
  void fill_ring(std::uint64_t newest);
  [[nodiscard]] segment::EventRecord& event(std::size_t i) { return events_[i]; }

  // The counts of the header are set from what was added, unless keep_counts() was called.
  void keep_counts() { keep_counts_ = true; }
  [[nodiscard]] std::vector<std::byte> bytes() const;

 private:
  segment::Header header_{};
  bool keep_counts_ = false;
  std::deque<segment::DeviceRecord> devices_;
  std::deque<segment::AllocationSlot> allocations_;
  std::deque<segment::ProgramSlot> programs_;
  std::deque<segment::CbRecord> cbs_;
  std::deque<segment::EventRecord> events_;
  std::deque<segment::TextRecord> texts_;
  std::deque<segment::DeviceSetRecord> device_sets_;
};

}  // namespace ttmem::testing
