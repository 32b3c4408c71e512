// SPDX-License-Identifier: Apache-2.0
//
// The table of all figures of a device, with the names of the figures in JSON, CSV and --query. All
// three formats use this table, so that a figure has matching names in all of them.
// docs/reference/query.md and docs/reference/json.md list the figures.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "read/model/snapshot.hpp"

namespace ttmem::views {

// The value of a field; std::monostate if unknown.
using FieldValue =
    std::variant<std::monostate, bool, std::uint64_t, std::int64_t, double, std::string>;

struct DeviceField {
  // Path in the JSON of a device, such as "l1/cb/physical_bytes". Empty if the field is not in
  // JSON.
  std::string_view path;
  std::string_view column;  // column in CSV; empty if the field is not in CSV
  FieldValue (*value)(const model::Device& device);
  std::string_view meaning;  // description in the output of --query=help
};

// Returns the fields in the order of the schema, which is also the order of the CSV columns.
[[nodiscard]] const std::vector<DeviceField>& device_fields();

// A figure of the whole snapshot. In CSV, all rows of one snapshot have the same value in its
// column.
struct SnapshotField {
  std::string_view column;
  FieldValue (*value)(const model::Snapshot& snapshot);
  std::string_view meaning;
};
[[nodiscard]] const std::vector<SnapshotField>& snapshot_fields();

// The columns that identify a device.
inline constexpr std::array<std::string_view, 5> kIdentityColumns = {"device", "uid", "bus_id",
                                                                     "board", "arch"};

// Returns the field whose CSV column is `column`. There must be such a field.
[[nodiscard]] const DeviceField& field_of_column(std::string_view column);

// Returns the value as text. Returns `unknown` if the value is unknown.
[[nodiscard]] std::string text_of(const FieldValue& value, std::string_view unknown);

}  // namespace ttmem::views
