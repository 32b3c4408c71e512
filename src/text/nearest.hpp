// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ttmem::text {

// The candidate that `word` is probably a misspelling of; empty: none is close. Pure, safe from any
// thread.
[[nodiscard]] std::string nearest(std::string_view word,
                                  const std::vector<std::string>& candidates);

}  // namespace ttmem::text
