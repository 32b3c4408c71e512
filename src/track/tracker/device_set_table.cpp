// SPDX-License-Identifier: Apache-2.0
#include "track/tracker/device_set_table.hpp"

#include <atomic>

#include "track/tracker/clock.hpp"

namespace ttmem::tracker {

std::uint32_t DeviceSetTable::number_of(const segment::DeviceMask& devices) {
  if (const auto known = numbers_.find(devices); known != numbers_.end()) return known->second;
  const std::uint32_t index = segment_.acquire_device_set(now());
  if (index == segment::kNoSlot) return 0;
  segment::DeviceSetRecord& record = segment_.device_set(index);
  record.devices = devices;
  // Stores the set before its count, and the count before a slot or an event refers to the set.
  std::atomic_ref<std::uint64_t>(record.count).store(devices.count(), std::memory_order_release);
  numbers_.emplace(devices, index + 1);
  return index + 1;
}

}  // namespace ttmem::tracker
