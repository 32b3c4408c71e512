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

// Copies `text` into a field of a record, cut to the size of the field.
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

// Builds the bytes of a segment. Uses only layout.hpp, so that tests check the reader against the
// layout and not against the project's writer. The caller may change every returned record until
// the call of bytes(). In the file, the chunks of different kinds alternate.
class SegmentBuilder {
 public:
  // Makes the segment of a process without devices. The magic and the sizes are correct.
  SegmentBuilder();

  [[nodiscard]] segment::Header& header() { return header_; }

  // Adds an open Wormhole n150: 8 x 8 cores, 12 channels of 1 GiB.
  segment::DeviceRecord& add_device(std::uint32_t id, std::uint64_t uid);

  // Adds a live buffer in every bank. Increases Header::events by one and uses the new value as the
  // number of the event that allocated the buffer.
  segment::AllocationSlot& add_allocation(std::uint32_t device, Kind kind, std::uint64_t address,
                                          std::uint64_t bytes, std::uint64_t bytes_per_bank);

  // Adds a live program with its own CBs.
  segment::ProgramSlot& add_program(std::uint32_t device, std::uint64_t program,
                                    const std::vector<CbSpec>& cbs);
  // Adds a live program that has the same CBs as another program.
  segment::ProgramSlot& add_program_like(const segment::ProgramSlot& other, std::uint32_t device,
                                         std::uint64_t program);

  // Adds a set of devices and returns its number. To use the set, store the number in
  // AllocationSlot::device and set the flag kOnSet.
  std::uint32_t add_device_set(const std::vector<std::uint32_t>& devices);

  // Adds a text and returns its number, which can be stored in ProgramSlot::name.
  std::uint32_t add_name(std::string_view text);

  [[nodiscard]] segment::AllocationSlot& allocation(std::size_t i) { return allocations_[i]; }
  [[nodiscard]] segment::DeviceRecord& device(std::size_t i) { return devices_[i]; }
  [[nodiscard]] segment::CbRecord& cb(std::size_t i) { return cbs_[i]; }
  [[nodiscard]] segment::TextRecord& text(std::size_t i) { return texts_[i]; }
  [[nodiscard]] segment::DeviceSetRecord& device_set(std::size_t i) { return device_sets_[i]; }

  // Fills the ring, which has 1024 records, as if the events with the numbers 1 to `newest` had
  // happened.
  void fill_ring(std::uint64_t newest);
  [[nodiscard]] segment::EventRecord& event(std::size_t i) { return events_[i]; }

  // Makes bytes() keep the counts that are in the header. Otherwise bytes() sets the counts from
  // the added records.
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
