// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "read/model/snapshot.hpp"

namespace ttmem::model {

// The name of a device: its uid, its PCI address or its number. Several chips may share a number.
// name_of() returns a name that finds the same device in a later Snapshot.
struct DeviceName {
  constexpr DeviceName() = default;
  constexpr DeviceName(std::uint32_t a_number) : number(a_number) {}  // NOLINT: implicit on purpose

  std::optional<std::uint64_t> uid;  // if set, `number` and `arch` are ignored
  std::uint32_t number = 0;
  // If set, the name matches only a chip of this architecture whose uid and bus id are unknown.
  std::optional<std::string> arch;
  std::string bus_id{};  // "01:00.0"; if it is not empty, all other fields are ignored

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

// Returns true if any process gives `device` this number.
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

// Returns a copy of the device with only the fields that name_of() and has_name() read and the
// fields that name the device in messages.
[[nodiscard]] inline Device identity_only(const Device& device) {
  Device identity;
  identity.id = device.id;
  identity.ids = device.ids;
  identity.shares_number = device.shares_number;
  identity.uid = device.uid;
  identity.other_uids = device.other_uids;
  identity.arch = device.arch;
  identity.bus_id = device.bus_id;
  return identity;
}

}  // namespace ttmem::model
