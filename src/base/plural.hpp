// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ttmem {

// Formats a count with its noun: "1 process", "2 processes".
[[nodiscard]] inline std::string plural(std::uint64_t count, std::string_view one,
                                        std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

}  // namespace ttmem
