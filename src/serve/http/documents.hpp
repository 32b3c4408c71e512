// SPDX-License-Identifier: Apache-2.0
//
// JSON documents of facts that only the server has. Sizes are integers in bytes, unknown values are
// null, and the output is valid JSON for any bytes in the strings. Documents end with a newline.
// Pure, safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "read/model/snapshot.hpp"
#include "serve/observatory/history.hpp"
#include "serve/observatory/postmortem.hpp"

namespace ttmem::serve {

// Returns a document in the schema ttmem.history.v1. `directory` is the directory_id() of the
// directory that the server reads; empty if unknown.
[[nodiscard]] std::string history_json(const HistoryRange& range, std::string_view directory);

// Returns a document in the schema ttmem.postmortems.v1, the latest post-mortem first.
[[nodiscard]] std::string postmortems_json(const Postmortems& postmortems,
                                           std::uint64_t time_unix_ns, std::string_view host);

// Returns members of ttmem.changes.v1: `"complete":true,"warnings":["..."],"unread":[]`, without a
// newline.
[[nodiscard]] std::string warnings_part(const model::Snapshot& snapshot);

// Returns the text as a JSON string, with its quotes, without a newline.
[[nodiscard]] std::string json_string(std::string_view text);

// Returns {"error": "..."}.
[[nodiscard]] std::string error_json(std::string_view message);

}  // namespace ttmem::serve
