// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "read/model/snapshot.hpp"

namespace ttmem::model {

// Sets Device::shares_number in all devices of a Snapshot.
inline void mark_shared_numbers(std::vector<Device>& devices) {
  std::map<std::uint32_t, std::uint32_t> chips_with;
  for (const Device& device : devices) {
    for (const std::uint32_t number : device.ids) ++chips_with[number];
  }
  for (Device& device : devices) {
    device.shares_number = std::any_of(device.ids.begin(), device.ids.end(),
                                       [&](auto number) { return chips_with[number] > 1; });
  }
}

}  // namespace ttmem::model
