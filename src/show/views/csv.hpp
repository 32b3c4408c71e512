// SPDX-License-Identifier: Apache-2.0
//
// Snapshots for spreadsheets. Fields are quoted as in RFC 4180; a line ends with a newline without
// a carriage return. Column names carry the unit; an unknown figure is n/a. Pure, safe from any
// thread.
#pragma once

#include <cstdint>
#include <string>

#include "read/model/snapshot.hpp"

namespace ttmem::views {

enum class CsvRows : std::uint8_t {
  devices,     // one row per device
  identities,  // one row per device, with kIdentityColumns only
  cores,       // one row per core; no row for a device whose grid is unknown
};

[[nodiscard]] std::string csv_header(CsvRows rows);
// Returns the rows without the header, so that several samples can share one header.
[[nodiscard]] std::string csv_rows(const model::Snapshot& snapshot, CsvRows rows);

}  // namespace ttmem::views
