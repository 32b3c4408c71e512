// SPDX-License-Identifier: Apache-2.0
#include "segment/reader/device_set_reader.hpp"

namespace ttmem::segment {

std::optional<DeviceMask> DeviceSetReader::read(std::uint32_t number) {
  if (const auto known = known_.find(number); known != known_.end()) return known->second;
  if (number > places_.capacity()) return std::nullopt;
  DeviceSetRecord record{};
  const bool complete = number != 0 && read_value(source_, places_.offset_of(number - 1), record) &&
                        record.count == record.devices.count();
  return known_.emplace(number, complete ? record.devices : DeviceMask{}).first->second;
}

}  // namespace ttmem::segment
