// SPDX-License-Identifier: Apache-2.0
//
// Snapshots for spreadsheets: fields are quoted as in RFC 4180, lines end with a newline alone.
// Columns carry their unit; unknown is n/a. Pure, safe from any thread.
#pragma once

#include <cstdint>
#include <string>

#include "read/model/snapshot.hpp"

namespace ttmem::views {

enum class CsvRows : std::uint8_t {
  devices,     // one row per device
  identities,  // the same with the columns alone that tell it from others
  cores,       // one row per core; a device whose grid is unknown has none
};

[[nodiscard]] std::string csv_header(CsvRows rows);
// The rows without the header, so that samples can follow each other.
[[nodiscard]] std::string csv_rows(const model::Snapshot& snapshot, CsvRows rows);

}  // namespace ttmem::views
