// SPDX-License-Identifier: Apache-2.0
#include "show/views/query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/safe_text.hpp"
#include "show/views/csv.hpp"
#include "show/views/device_fields.hpp"
#include "text/format.hpp"
#include "text/nearest.hpp"
#include "text/typed_lists.hpp"

namespace ttmem::views {
namespace {

using model::Device;
using model::Snapshot;

constexpr std::string_view kMissing = "[N/A]";
constexpr std::string_view kBytes = "_bytes";

// A field of --query: a figure of the device or of the whole snapshot.
struct QueryField {
  std::string name;  // name of the CSV column without "_bytes"
  std::string_view column;
  std::string_view meaning;
  FieldValue (*of_device)(const Device& device) = nullptr;
  FieldValue (*of_snapshot)(const Snapshot& snapshot) = nullptr;

  [[nodiscard]] bool is_size() const { return name.size() != column.size(); }
  [[nodiscard]] FieldValue value(const Snapshot& snapshot, const Device& device) const {
    return of_device != nullptr ? of_device(device) : of_snapshot(snapshot);
  }
};

std::string name_of_column(std::string_view column) {
  std::string name(column);
  if (const std::size_t at = name.find(kBytes); at != std::string::npos) {
    name.erase(at, kBytes.size());
  }
  return name;
}

const std::vector<QueryField>& query_fields() {
  static const std::vector<QueryField> fields = [] {
    std::vector<QueryField> all;
    for (const DeviceField& field : device_fields()) {
      if (field.column.empty()) continue;
      all.push_back(
          {name_of_column(field.column), field.column, field.meaning, field.value, nullptr});
    }
    for (const SnapshotField& field : snapshot_fields()) {
      all.push_back(
          {name_of_column(field.column), field.column, field.meaning, nullptr, field.value});
    }
    return all;
  }();
  return fields;
}

Error unknown_field(std::string_view name) {
  const std::string near = text::nearest(name, query_names());
  return {
      fmt::format("there is no field '{}'; {}", name,
                  near.empty() ? "`ttmem --query=help` lists them" : "did you mean " + near + "?")};
}

std::string size_text(std::uint64_t bytes, const QueryFormat& format, text::Units units) {
  if (units == text::Units::automatic) return text::format_bytes(bytes);
  std::string text = text::number_in(bytes, units);
  if (format.units) text.append(" ").append(name_of(units));
  return text;
}

std::string cell_of(const QueryField& field, const FieldValue& value, const QueryFormat& format,
                    text::Units units) {
  if (!field.is_size()) return csv_field(text_of(value, kMissing));
  if (const auto* bytes = std::get_if<std::uint64_t>(&value)) {
    return size_text(*bytes, format, units);
  }
  const auto* bytes = std::get_if<std::int64_t>(&value);
  if (bytes == nullptr) return std::string(kMissing);
  const auto magnitude = static_cast<std::uint64_t>(*bytes);
  return *bytes < 0 ? "-" + size_text(0 - magnitude, format, units)
                    : size_text(magnitude, format, units);
}

}  // namespace

Result<QueryFields> parse_query(std::string_view text) {
  const std::vector<QueryField>& known = query_fields();
  QueryFields fields;
  for (const std::string_view name : text::split(text)) {
    const auto found = std::find_if(known.begin(), known.end(), [&](const QueryField& field) {
      return field.name == name || field.column == name;
    });
    if (found == known.end()) return unknown_field(name);
    fields.push_back(static_cast<std::size_t>(found - known.begin()));
  }
  return fields;
}

Result<QueryFormat> parse_query_format(std::string_view text) {
  QueryFormat format;
  bool csv = false;
  for (const std::string_view word : text::split(text)) {
    if (word == "csv") {
      csv = true;
    } else if (word == "noheader") {
      format.header = false;
    } else if (word == "nounits") {
      format.units = false;
    } else {
      return Error{fmt::format("'{}' is not csv, noheader or nounits", word)};
    }
  }
  if (!csv) return Error{"must have csv, for example csv,noheader"};
  return format;
}

std::string query_header(const QueryFields& fields, const QueryFormat& format, text::Units units) {
  if (!format.header) return {};
  std::vector<std::string> names;
  for (const std::size_t index : fields) {
    const QueryField& field = query_fields()[index];
    const bool has_unit = field.is_size() && units != text::Units::automatic;
    names.push_back(has_unit ? fmt::format("{} [{}]", field.name, name_of(units)) : field.name);
  }
  return text::join(names, ", ") + "\n";
}

std::string query_rows(const Snapshot& snapshot, const QueryFields& fields,
                       const QueryFormat& format, text::Units units) {
  std::string rows;
  for (const Device& device : snapshot.devices) {
    std::vector<std::string> values;
    for (const std::size_t index : fields) {
      const QueryField& field = query_fields()[index];
      values.push_back(cell_of(field, field.value(snapshot, device), format, units));
    }
    rows += text::join(values, ", ") + "\n";
  }
  return rows;
}

std::vector<std::string> query_names() {
  std::vector<std::string> names;
  for (const QueryField& field : query_fields()) names.push_back(field.name);
  return names;
}

std::string query_help() {
  std::string text = "Fields of --query:\n\n";
  for (const QueryField& field : query_fields()) {
    text += fmt::format("  {:<20}  {}\n", field.name, field.meaning);
  }
  return text +
         "\nSizes are in MiB; --units takes auto, bytes, MiB or GiB. A field also answers to its "
         "name "
         "in --csv.\n\n"
         "Example:\n"
         "  ttmem --query=device,dram_used,dram_capacity --format=csv,noheader,nounits\n";
}

}  // namespace ttmem::views
