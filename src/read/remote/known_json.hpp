// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "read/remote/fault.hpp"

namespace ttmem::remote {

// The action for a complete value: keep it, or drop it because the caller has already used it.
enum class Then { keep, drop };

// Receives each object or list when it ends. `section` is the name of the document's member that
// contains the object or list. `depth` is 0 for the document itself.
using Complete =
    std::function<Then(const std::string& section, int depth, const nlohmann::json& value)>;

// Parses untrusted JSON into a value. Skips members whose names no document of ttmem has, and
// values that are nested deeper than in a document of ttmem. Calls complete() for each other object
// and list when it ends. Time is proportional to the text, and memory to its known part.
//
// Returns null if the text is not JSON. Fails if the text has more values than the document of any
// real machine, because a parsed value may take a thousand times the memory of its text, such as
// `{}`.
[[nodiscard]] Answer<nlohmann::json> parse_known(std::string_view text, const Complete& complete);

// Returns true if a document of ttmem has members of this name.
[[nodiscard]] bool is_known(const std::string& name);

// Fails unless `document` has this schema, such as "ttmem.snapshot.v1". The fault is `newer` if the
// document has another version of the schema.
[[nodiscard]] std::optional<Fault> wrong_schema(const nlohmann::json& document,
                                                std::string_view schema);

}  // namespace ttmem::remote
