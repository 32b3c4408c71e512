// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ttmem::text {

// Returns the candidate that `word` is probably a misspelling of, or an empty text if no candidate
// is close. Pure, safe from any thread.
[[nodiscard]] std::string nearest(std::string_view word,
                                  const std::vector<std::string>& candidates);

}  // namespace ttmem::text
