// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/core_mask.hpp"

namespace ttmem::recording {

// Cores by their numbers, "0-7,12". Core (x, y) of a grid with X columns is number y * X + x.
[[nodiscard]] std::string core_text(const CoreMask& cores);
// None when it is not such a text.
[[nodiscard]] std::optional<CoreMask> parse_cores(std::string_view text);

}  // namespace ttmem::recording
