// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "base/saturating.hpp"

namespace ttmem {

// Bytes on each of several devices. `Device` is any value that identifies a device.
template <typename Device>
class BytesOnDevices {
 public:
  void add(const Device& device, std::uint64_t bytes) {
    std::uint64_t& sum = bytes_[device];
    sum = saturating_add(sum, bytes);
  }
  void add(const BytesOnDevices& other) {
    for (const auto& [device, bytes] : other.bytes_) add(device, bytes);
  }

  // Returns the sum over all devices.
  [[nodiscard]] std::uint64_t on_all() const {
    std::uint64_t sum = 0;
    for (const auto& [device, bytes] : bytes_) sum = saturating_add(sum, bytes);
    return sum;
  }
  // Returns the bytes on the device that has the most bytes. This is the figure of lists "per
  // device", because the devices of a mesh usually hold the same.
  [[nodiscard]] std::uint64_t per_device() const {
    std::uint64_t most = 0;
    for (const auto& [device, bytes] : bytes_) most = std::max(most, bytes);
    return most;
  }
  // Returns the bytes of each device, in ascending order of devices.
  [[nodiscard]] const std::map<Device, std::uint64_t>& of_each() const { return bytes_; }

 private:
  std::map<Device, std::uint64_t> bytes_;
};

}  // namespace ttmem
