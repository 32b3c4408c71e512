// SPDX-License-Identifier: Apache-2.0
//
// Every figure of a device with its name in JSON and CSV: both go over this table, so that a figure
// is named once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/snapshot.hpp"

namespace ttmem::views {

// monostate: unknown.
using FieldValue = std::variant<std::monostate, std::uint64_t, std::int64_t, std::string>;

struct DeviceField {
  std::string_view
      path;  // in the JSON of a device, such as "l1/cb/physical_bytes"; empty: not there
  std::string_view column;  // in CSV; empty: not there
  FieldValue (*value)(const model::Device& device);
};

// In the order of the schema, which is that of the columns.
[[nodiscard]] const std::vector<DeviceField>& device_fields();

}  // namespace ttmem::views
