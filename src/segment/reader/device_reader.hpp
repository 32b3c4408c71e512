// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "segment/reader/byte_source.hpp"
#include "segment/reader/segment_image.hpp"
#include "segment/reader/segment_map.hpp"

namespace ttmem::segment {

// The open devices of a segment, which of them each device record became, and what was left on
// those that are closed.
struct OpenDevices {
  std::vector<DeviceImage> devices;
  std::vector<std::optional<std::uint32_t>> of_record;  // by record; none: not open
  std::vector<LeftAtClose> left_at_close;
  std::vector<DevicePeaks> peaks;    // also of the closed ones
  std::vector<DeviceImage> closed;   // without cores
  std::vector<std::uint32_t> id_of;  // by record
  std::uint64_t invalid_records = 0;
};

// None when the file is cut short while being read.
[[nodiscard]] std::optional<OpenDevices> read_devices(const ByteSource& source,
                                                      const SegmentMap& map);

// The compute cores of a device; all that a mask can name when its grid is unknown.
[[nodiscard]] CoreMask grid_mask(const DeviceImage& device);

}  // namespace ttmem::segment
