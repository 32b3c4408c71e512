// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "segment/reader/byte_source.hpp"
#include "segment/reader/segment_image.hpp"
#include "segment/reader/segment_map.hpp"

namespace ttmem::segment {

// The devices of a segment. `devices` contains only the open devices.
struct OpenDevices {
  std::vector<DeviceImage> devices;
  // For each record, the index of its device in `devices`. nullopt if the device is not open.
  std::vector<std::optional<std::uint32_t>> of_record;
  std::vector<LeftAtCloseImage> left_at_close;
  std::vector<DevicePeaks> peaks;    // of open and closed devices
  std::vector<DeviceImage> closed;   // closed devices, without cores
  std::vector<std::uint32_t> id_of;  // id of the device, by record
  std::uint64_t invalid_records = 0;
};

// Reads all device records. Returns nullopt if the file is truncated while being read.
[[nodiscard]] std::optional<OpenDevices> read_devices(const ByteSource& source,
                                                      const SegmentMap& map);

// Returns the compute cores of a device. If its grid is unknown, returns all cores that a mask can
// contain.
[[nodiscard]] CoreMask grid_mask(const DeviceImage& device);

}  // namespace ttmem::segment
