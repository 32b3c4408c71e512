// SPDX-License-Identifier: Apache-2.0
//
// Snapshots as CSV for spreadsheets. Fields are quoted as in RFC 4180, but a line ends with a
// newline without a carriage return. Column names contain the unit. An unknown figure is n/a. Pure,
// safe from any thread.
#pragma once

#include <cstdint>
#include <string>

#include "read/model/snapshot.hpp"

namespace ttmem::views {

enum class CsvRows : std::uint8_t {
  devices,     // one row per device
  identities,  // one row per device with the columns kIdentityColumns only
  // One row per core. A device whose grid is unknown has no row.
  cores,
};

[[nodiscard]] std::string csv_header(CsvRows rows);
// Returns the rows without the header, so that the rows of several samples can follow one header.
[[nodiscard]] std::string csv_rows(const model::Snapshot& snapshot, CsvRows rows);

}  // namespace ttmem::views
