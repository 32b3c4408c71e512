// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "segment/layout/layout.hpp"
#include "segment/reader/byte_source.hpp"

namespace ttmem::segment {

// The state of the header of a file.
enum class HeaderState : std::uint8_t {
  incomplete,     // no magic yet: the writer is starting, or died while it started
  foreign,        // another magic: the file is not a segment
  other_version,  // a segment of another version of libttmem
  damaged,        // a segment whose header contradicts itself or is cut off
  complete,
};

[[nodiscard]] HeaderState header_state(const ByteSource& source);

// The places of the records of one kind. The chunks of that kind, in the order of the file, form
// one array.
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

  // Returns the offset of a record in the file. `index` must be below capacity().
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

// The checked header of a segment, and the places of its arrays. The counts in the header are not
// checked, so readers limit them to the capacities of the arrays. The capacities never exceed the
// size of the file.
struct SegmentMap {
  Header header;
  std::uint64_t events_before = 0;  // Header::events, read before `header` was read
  RecordPlaces devices{sizeof(DeviceRecord)};
  RecordPlaces allocations{sizeof(AllocationSlot)};
  RecordPlaces programs{sizeof(ProgramSlot)};
  RecordPlaces cbs{sizeof(CbRecord)};
  RecordPlaces events{sizeof(EventRecord)};
  RecordPlaces texts{sizeof(TextRecord)};
  RecordPlaces device_sets{sizeof(DeviceSetRecord)};
};

// Returns the number of events that the process has written.
[[nodiscard]] std::uint64_t event_count(const Header& header);

// Reads the header and the chunk table. Fails if the header is not HeaderState::complete, or if the
// file is truncated while being read.
[[nodiscard]] Result<SegmentMap> map_segment(const ByteSource& source);

}  // namespace ttmem::segment
