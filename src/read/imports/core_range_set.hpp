// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/core_range.hpp"

namespace ttmem::imports {

// Parses the text that TT-Metal prints for a CoreRangeSet: "{[0-0 - 7-7], [8-0 - 8-3]}", or, from
// versions before 2026, "{[(x=0,y=0) - (x=7,y=7)]}". "{}" has no ranges. Returns nullopt if the
// text is not valid, or if the end of a range lies before its start.
[[nodiscard]] std::optional<std::vector<CoreRange>> parse_core_range_set(std::string_view text);

}  // namespace ttmem::imports
