// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "segment/reader/byte_source.hpp"
#include "segment/reader/segment_map.hpp"

namespace ttmem::segment {

// The sets of devices of a segment. Reads each once, when it is first needed: a slot refers to a
// set only when that is complete, and a set never changes. `source` and `map` must outlive it.
class DeviceSetReader {
 public:
  DeviceSetReader(const ByteSource& source, const SegmentMap& map)
      : source_(source), places_(map.device_sets) {}

  // The set with this number. None when it is newer than `map`; empty when its record contradicts
  // itself, or is missing.
  [[nodiscard]] std::optional<DeviceMask> read(std::uint32_t number);

 private:
  const ByteSource& source_;
  const RecordPlaces& places_;
  std::map<std::uint32_t, DeviceMask> known_;
};

}  // namespace ttmem::segment
