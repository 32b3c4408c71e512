// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace ttmem::text {

// The unit of a size. `automatic` chooses a unit for each size.
enum class Units : std::uint8_t { automatic, bytes, mib, gib };

// Parses "auto", "bytes", "MiB" or "GiB", in upper or lower case.
[[nodiscard]] Result<Units> parse_units(std::string_view text);

// Returns "B", "MiB" or "GiB"; an empty text for automatic.
[[nodiscard]] std::string_view name_of(Units units);

// Formats a size without its unit: as whole bytes, or as MiB or GiB with two decimals. A small size
// gets more decimals, so that it does not look like zero. `units` must not be automatic.
[[nodiscard]] std::string number_in(std::uint64_t bytes, Units units);

}  // namespace ttmem::text
