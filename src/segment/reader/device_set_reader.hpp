// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "segment/reader/byte_source.hpp"
#include "segment/reader/segment_map.hpp"

namespace ttmem::segment {

// Reads the sets of devices of a segment. Reads each set once, when it is first needed. One read is
// enough, because a slot refers only to complete sets, and a set never changes. `source` and `map`
// must outlive the reader.
class DeviceSetReader {
 public:
  DeviceSetReader(const ByteSource& source, const SegmentMap& map)
      : source_(source), places_(map.device_sets) {}

  // Returns the set with this number. Returns nullopt if the set is newer than `map`, and an empty
  // set if its record is missing or contradicts itself.
  [[nodiscard]] std::optional<DeviceMask> read(std::uint32_t number);

 private:
  const ByteSource& source_;
  const RecordPlaces& places_;
  std::map<std::uint32_t, DeviceMask> known_;
};

}  // namespace ttmem::segment
