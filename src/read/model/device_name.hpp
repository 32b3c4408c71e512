// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "read/model/snapshot.hpp"

namespace ttmem::model {

// A device as it is named: by its number, which several chips may have, or by its uid, which is one
// chip's own. name_of() gives the name by which one device is found again in a later Snapshot.
struct DeviceName {
  constexpr DeviceName() = default;
  constexpr DeviceName(std::uint32_t a_number) : number(a_number) {}  // NOLINT: "device 3" is one

  std::optional<std::uint64_t> uid;  // then `number` and `arch` mean nothing
  std::uint32_t number = 0;
  std::optional<std::string> arch;  // only the chip of unknown uid with this arch; none: any chip
  std::string bus_id{};             // "01:00.0"; then nothing else means anything; empty: none

  friend auto operator<=>(const DeviceName&, const DeviceName&) = default;
};

[[nodiscard]] inline DeviceName name_of_uid(std::uint64_t uid) {
  DeviceName name;
  name.uid = uid;
  return name;
}

[[nodiscard]] inline DeviceName name_of(const Device& device) {
  if (device.uid) return name_of_uid(*device.uid);
  DeviceName name(device.id);
  name.bus_id = device.bus_id;
  if (!name.bus_id.empty()) return name;
  name.arch = device.arch;
  return name;
}

// A chip has every number that a process gives it.
[[nodiscard]] inline bool has_number(const Device& device, std::uint32_t number) {
  return device.id == number ||
         std::find(device.ids.begin(), device.ids.end(), number) != device.ids.end();
}

[[nodiscard]] inline bool has_name(const Device& device, const DeviceName& name) {
  if (!name.bus_id.empty()) return device.bus_id.ends_with(name.bus_id);
  if (name.uid) {
    const auto& others = device.other_uids;
    return device.uid == name.uid ||
           std::find(others.begin(), others.end(), *name.uid) != others.end();
  }
  const bool has_other_name = device.uid || !device.bus_id.empty();
  if (name.arch && (has_other_name || device.arch != *name.arch)) return false;
  return has_number(device, name.number);
}

}  // namespace ttmem::model
