// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/core_mask.hpp"

namespace ttmem::recording {

// Returns the numbers of the cores as text: "0-7,12". Core (x, y) of a grid with X columns has the
// number y * X + x.
[[nodiscard]] std::string core_text(const CoreMask& cores);
// Parses a text of core_text(). Returns nullopt if the text is not valid.
[[nodiscard]] std::optional<CoreMask> parse_cores(std::string_view text);

}  // namespace ttmem::recording
