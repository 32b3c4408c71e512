// SPDX-License-Identifier: Apache-2.0
#include "read/recording/file/openings.hpp"

#include <cstdint>
#include <map>
#include <utility>

namespace ttmem::recording {

std::vector<bool> last_openings(const Tables& tables) {
  // The last opening, by process and device number.
  std::map<std::pair<RowId, std::uint32_t>, RowId> last;
  for (const RecordedDevice& device : tables.devices)
    last[{device.process, device.number}] = device.id;
  std::vector<bool> is_last(tables.devices.size(), false);
  for (const auto& [device, row] : last) is_last[static_cast<std::size_t>(row - 1)] = true;
  return is_last;
}

}  // namespace ttmem::recording
