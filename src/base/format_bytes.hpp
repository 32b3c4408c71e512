// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ttmem {

// Selects the unit of a size of 0: MiB for `device`, KiB for `core`.
enum class Scale : std::uint8_t { device, core };

// Formats a size: "1.23 GiB", "29.0 MiB", "200.0 KiB", "192 B". Numbers below ten have two
// decimals, and larger numbers have one decimal. The text never has more than nine characters, and
// only the size 0 has the number 0. The text is the same in every locale.
[[nodiscard]] inline std::string format_bytes(std::uint64_t bytes, Scale scale = Scale::device) {
  constexpr std::array<std::string_view, 7> units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  // Takes the next unit for 999.95 or more, because one decimal would give "1000.0 MiB", which has
  // ten characters.
  for (; unit + 1 < units.size() && value >= (unit == 0 ? 1024 : 999.95); ++unit) value /= 1024;
  if (bytes == 0) unit = scale == Scale::device ? 2 : 1;
  const int decimals = unit == 0 ? 0 : value < 9.995 ? 2 : 1;
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::fixed, decimals);
  return std::string(digits.data(), end.ptr).append(" ").append(units[unit]);
}

}  // namespace ttmem
