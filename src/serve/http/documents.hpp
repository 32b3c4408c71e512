// SPDX-License-Identifier: Apache-2.0
//
// What only the server knows, as JSON. Integers are bytes, unknown is null, and the output is valid
// JSON whatever bytes the strings hold. Documents end with a newline. Pure, safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "read/model/snapshot.hpp"
#include "serve/observatory/history.hpp"
#include "serve/observatory/postmortem.hpp"

namespace ttmem::serve {

// Schema ttmem.history.v1.
[[nodiscard]] std::string history_json(const HistoryRange& range);

// Schema ttmem.postmortems.v1; the latest first.
[[nodiscard]] std::string postmortems_json(const Postmortems& postmortems,
                                           std::uint64_t time_unix_ns, std::string_view host);

// A piece of ttmem.changes.v1: `"complete":true,"warnings":["..."],"unread":[]`, without a newline.
[[nodiscard]] std::string warnings_part(const model::Snapshot& snapshot);

// The text as a string of JSON, with its quotes, without a newline.
[[nodiscard]] std::string json_string(std::string_view text);

// {"error": "..."}
[[nodiscard]] std::string error_json(std::string_view message);

}  // namespace ttmem::serve
