// SPDX-License-Identifier: Apache-2.0
//
// `ttmem --query=FIELDS --format=csv`: chosen fields of every device, as nvidia-smi prints them.
// docs/reference/query.md lists the fields. Pure, safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "read/model/snapshot.hpp"
#include "text/units.hpp"

namespace ttmem::views {

// Which columns, in this order: indices into the list that query_help() prints.
using QueryFields = std::vector<std::size_t>;

// "device,dram_used,headroom_per_core". A field may also be named as its column in CSV, which ends
// in "_bytes". An Error names the field that does not exist, and the nearest that does.
[[nodiscard]] Result<QueryFields> parse_query(std::string_view text);

struct QueryFormat {
  bool header = true;
  bool units = true;  // behind each value
};

// "csv", "csv,noheader", "csv,noheader,nounits".
[[nodiscard]] Result<QueryFormat> parse_query_format(std::string_view text);

// The names, each with its unit: "dram_used [MiB]". Empty when the format wants none.
[[nodiscard]] std::string query_header(const QueryFields& fields, const QueryFormat& format,
                                       text::Units units);
// One row per device; unknown is "[N/A]".
[[nodiscard]] std::string query_rows(const model::Snapshot& snapshot, const QueryFields& fields,
                                     const QueryFormat& format, text::Units units);

// The fields, in the order of query_help().
[[nodiscard]] std::vector<std::string> query_names();

// What --query=help prints: each field in a line, with what it means.
[[nodiscard]] std::string query_help();

}  // namespace ttmem::views
