// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "read/remote/fault.hpp"

namespace ttmem::remote {

// What a parser does with a value that is complete: keeps it, or drops it because it was used.
enum class Then { keep, drop };

// Of an object or a list that ended; `section` is the name of the member of the document that it is
// in, and `depth` that of the document itself 0.
using Complete =
    std::function<Then(const std::string& section, int depth, const nlohmann::json& value)>;

// JSON that anybody may have written, as a value. Members with a name that no document of ttmem has
// and what is nested deeper than in those are skipped. Calls complete() for each object and list
// that is not, when it ends. Time is in proportion to the text, and memory to what is known in it.
//
// Null when the text is not JSON. Fails when there is more of something than any machine has: what
// `{}` becomes in a Snapshot may be a thousand times its size.
[[nodiscard]] Answer<nlohmann::json> parse_known(std::string_view text, const Complete& complete);

// Whether a document of ttmem has members of this name.
[[nodiscard]] bool is_known(const std::string& name);

// Fails unless `document` has this schema, "ttmem.snapshot.v1". A later version is `newer`.
[[nodiscard]] std::optional<Fault> wrong_schema(const nlohmann::json& document,
                                                std::string_view schema);

}  // namespace ttmem::remote
