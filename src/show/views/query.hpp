// SPDX-License-Identifier: Apache-2.0
//
// The output of `ttmem --query=FIELDS --format=csv`: chosen fields of every device in the format of
// nvidia-smi. docs/reference/query.md lists the fields. Pure, safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "read/model/snapshot.hpp"
#include "text/units.hpp"

namespace ttmem::views {

// The chosen fields in the order shown, as indices into query_names().
using QueryFields = std::vector<std::size_t>;

// Parses a list such as "device,dram_used,headroom_per_core". A field may also be named by its CSV
// column, which ends in "_bytes". An Error names the unknown field and the most similar known
// field.
[[nodiscard]] Result<QueryFields> parse_query(std::string_view text);

struct QueryFormat {
  bool header = true;
  bool units = true;  // true if each value is followed by its unit
};

// Parses "csv", "csv,noheader" or "csv,noheader,nounits".
[[nodiscard]] Result<QueryFormat> parse_query_format(std::string_view text);

// Returns the header line with the names of the fields and their units, such as "dram_used [MiB]".
// Returns an empty text if `format` has no header.
[[nodiscard]] std::string query_header(const QueryFields& fields, const QueryFormat& format,
                                       text::Units units);
// Returns one row per device. An unknown value is "[N/A]".
[[nodiscard]] std::string query_rows(const model::Snapshot& snapshot, const QueryFields& fields,
                                     const QueryFormat& format, text::Units units);

// Returns the names of the fields in the order of query_help().
[[nodiscard]] std::vector<std::string> query_names();

// Returns the output of --query=help: one line per field, with its meaning.
[[nodiscard]] std::string query_help();

}  // namespace ttmem::views
