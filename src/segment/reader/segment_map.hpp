// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "segment/layout/layout.hpp"
#include "segment/reader/byte_source.hpp"

namespace ttmem::segment {

// What the header of a file says about it.
enum class HeaderState : std::uint8_t {
  incomplete,     // no magic yet: its writer is starting, or died while it started
  foreign,        // another magic: not a segment
  other_version,  // a segment, but of another libttmem
  damaged,        // a segment whose header contradicts itself or is cut off
  complete,
};

[[nodiscard]] HeaderState header_state(const ByteSource& source);

// Where the records of one kind lie: the chunks of that kind, in the order of the file, are one
// array.
class RecordPlaces {
 public:
  explicit RecordPlaces(std::uint32_t record_bytes = kChunkBytes)
      : records_per_chunk_(kChunkBytes / record_bytes), record_bytes_(record_bytes) {}

  void add_chunk(std::uint32_t chunk) { chunks_.push_back(chunk); }

  [[nodiscard]] std::uint32_t capacity() const {
    return static_cast<std::uint32_t>(chunks_.size()) * records_per_chunk_;
  }
  [[nodiscard]] std::uint32_t records_per_chunk() const { return records_per_chunk_; }
  [[nodiscard]] std::uint32_t record_bytes() const { return record_bytes_; }

  // `index` is below capacity().
  [[nodiscard]] std::uint64_t offset_of(std::uint32_t index) const {
    const std::uint64_t chunk = chunks_[index / records_per_chunk_];
    return kHeaderBytes + chunk * kChunkBytes +
           std::uint64_t{index % records_per_chunk_} * record_bytes_;
  }

 private:
  std::vector<std::uint32_t> chunks_;
  std::uint32_t records_per_chunk_;
  std::uint32_t record_bytes_;
};

// The header, checked, and where its arrays are. The counts of the header are what its writer
// says; the capacities of the arrays are bounded by the size of the file.
struct SegmentMap {
  Header header;
  std::uint64_t events_before = 0;  // Header::events, read before anything else of `header`
  RecordPlaces devices{sizeof(DeviceRecord)};
  RecordPlaces allocations{sizeof(AllocationSlot)};
  RecordPlaces programs{sizeof(ProgramSlot)};
  RecordPlaces cbs{sizeof(CbRecord)};
  RecordPlaces events{sizeof(EventRecord)};
  RecordPlaces texts{sizeof(TextRecord)};
  RecordPlaces device_sets{sizeof(DeviceSetRecord)};
};

// How many events its process has written.
[[nodiscard]] std::uint64_t event_count(const Header& header);

// Fails when the header is not complete, or is cut off while being read.
[[nodiscard]] Result<SegmentMap> map_segment(const ByteSource& source);

}  // namespace ttmem::segment
