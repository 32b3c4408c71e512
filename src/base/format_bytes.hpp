// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ttmem {

// Selects the unit for figures of ordinary size: MiB for `device`, KiB for `core`.
enum class Scale : std::uint8_t { device, core };

// Formats a size: "29.0 MiB", "1.23 GiB", "0.20 MiB". Numbers below ten have two decimals, larger
// numbers have one decimal, and bytes have none. A device's size below 0.01 MiB and a core's size
// below 1 KiB get a smaller unit: "192 B". The text has at most nine characters, and is the same in
// every locale.
[[nodiscard]] inline std::string format_bytes(std::uint64_t bytes, Scale scale = Scale::device) {
  constexpr std::array<std::string_view, 7> units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  const std::size_t ordinary = scale == Scale::device ? 2 : 1;
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  // Takes the next unit for 999.95 or more, because one decimal would give "1000.0 MiB", which has
  // ten characters.
  for (; unit + 1 < units.size() && (unit < ordinary || value >= 999.95); ++unit) value /= 1024;
  const double least = scale == Scale::device ? 0.01 : 1;
  if (unit == ordinary && bytes > 0) {
    for (; unit > 0 && value < least; --unit) value *= 1024;
  }
  const int decimals = unit == 0 ? 0 : value < 9.995 ? 2 : 1;
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::fixed, decimals);
  return std::string(digits.data(), end.ptr).append(" ").append(units[unit]);
}

}  // namespace ttmem
