// SPDX-License-Identifier: Apache-2.0
#include "show/views/csv.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "base/safe_text.hpp"
#include "show/views/device_fields.hpp"
#include "text/format.hpp"

namespace ttmem::views {
namespace {

using model::Device;
using model::Snapshot;

// One row as (column, value) pairs. The header is made from the same pairs, so that header and rows
// cannot disagree.
using CsvRow = std::vector<std::pair<std::string_view, std::string>>;

template <typename T>
std::string field_of(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string(text::kUnknown);
}

CsvRow csv_row(const Snapshot& snapshot, const Device& device) {
  CsvRow row;
  for (const DeviceField& field : device_fields()) {
    if (!field.column.empty())
      row.emplace_back(field.column, text_of(field.value(device), text::kUnknown));
  }
  for (const SnapshotField& field : snapshot_fields()) {
    row.emplace_back(field.column, text_of(field.value(snapshot), text::kUnknown));
  }
  return row;
}

CsvRow identity_of(const Device& device) {
  CsvRow row;
  for (const std::string_view column : kIdentityColumns) {
    row.emplace_back(column, text_of(field_of_column(column).value(device), text::kUnknown));
  }
  return row;
}

CsvRow csv_row(const Snapshot& snapshot, const Device& device, const model::Core& core) {
  return {{"device", fmt::format("{}", device.id)},
          {"uid", device.uid ? text::format_hex(*device.uid) : std::string(text::kUnknown)},
          {"x", fmt::format("{}", core.x)},
          {"y", fmt::format("{}", core.y)},
          {"cb_bytes", field_of(core.cb_bytes)},
          {"cb_resident_bytes", field_of(core.cb_resident_bytes)},
          {"l1_bytes", field_of(core.l1_bytes)},
          {"l1_data_bytes", field_of(core.l1_data_bytes)},
          {"headroom_bytes", field_of(core.headroom_bytes)},
          {"time_unix_ns", fmt::format("{}", snapshot.time_unix_ns)}};
}

std::string line_of(const CsvRow& row, bool names) {
  std::vector<std::string> fields;
  for (const auto& [name, value] : row) fields.push_back(csv_field(names ? name : value));
  return text::join(fields, ",") + "\n";
}

}  // namespace

std::string csv_header(CsvRows rows) {
  const CsvRow row = rows == CsvRows::cores        ? csv_row({}, {}, {})
                     : rows == CsvRows::identities ? identity_of({})
                                                   : csv_row({}, {});
  return line_of(row, true);
}

std::string csv_rows(const Snapshot& snapshot, CsvRows rows) {
  std::string text;
  for (const Device& device : snapshot.devices) {
    if (rows == CsvRows::devices) text += line_of(csv_row(snapshot, device), false);
    if (rows == CsvRows::identities) text += line_of(identity_of(device), false);
    if (rows != CsvRows::cores) continue;
    for (const model::Core& core : device.cores) {
      text += line_of(csv_row(snapshot, device, core), false);
    }
  }
  return text;
}

}  // namespace ttmem::views
