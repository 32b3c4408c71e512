// SPDX-License-Identifier: Apache-2.0
//
// Every figure of a device with its name in JSON, CSV and --query: all go over this table, so that
// a figure is named once. docs/reference/query.md and docs/reference/json.md list them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "read/model/snapshot.hpp"

namespace ttmem::views {

// monostate: unknown.
using FieldValue =
    std::variant<std::monostate, bool, std::uint64_t, std::int64_t, double, std::string>;

struct DeviceField {
  std::string_view
      path;  // in the JSON of a device, such as "l1/cb/physical_bytes"; empty: not there
  std::string_view column;  // in CSV; empty: not there
  FieldValue (*value)(const model::Device& device);
  std::string_view meaning;  // for people
};

// In the order of the schema, which is that of the columns.
[[nodiscard]] const std::vector<DeviceField>& device_fields();

// The same of the snapshot itself: columns that are equal in all rows of one reading.
struct SnapshotField {
  std::string_view column;
  FieldValue (*value)(const model::Snapshot& snapshot);
  std::string_view meaning;
};
[[nodiscard]] const std::vector<SnapshotField>& snapshot_fields();

// Columns that tell one device from another.
inline constexpr std::array<std::string_view, 5> kIdentityColumns = {"device", "uid", "bus_id",
                                                                     "board", "arch"};

// The field of a column, which must exist.
[[nodiscard]] const DeviceField& field_of_column(std::string_view column);

// The value as text; `unknown` when there is none.
[[nodiscard]] std::string text_of(const FieldValue& value, std::string_view unknown);

}  // namespace ttmem::views
