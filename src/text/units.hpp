// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace ttmem::text {

// In which unit sizes are written. Automatic: the one that suits each figure.
enum class Units : std::uint8_t { automatic, bytes, mib, gib };

// "auto", "bytes", "MiB" or "GiB", in any case of letters.
[[nodiscard]] Result<Units> parse_units(std::string_view text);

// "B", "MiB", "GiB"; empty for automatic.
[[nodiscard]] std::string_view name_of(Units units);

// The number alone, in a unit that is not automatic: whole bytes, else two decimals. What is not
// zero gets as many decimals as it takes not to look like zero.
[[nodiscard]] std::string number_in(std::uint64_t bytes, Units units);

}  // namespace ttmem::text
