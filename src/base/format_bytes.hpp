// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ttmem {

// The unit in which a figure of ordinary size is shown: devices in MiB, one core in KiB.
enum class Scale : std::uint8_t { device, core };

// "29.0 MiB", "1.23 GiB", "0.20 MiB": two decimals below ten, one above, never more than nine
// characters. A figure that would round to 0.00 MiB, or is below a KiB of a core, gets a smaller
// unit: "192 B". The same in every locale.
[[nodiscard]] inline std::string format_bytes(std::uint64_t bytes, Scale scale = Scale::device) {
  constexpr std::array<std::string_view, 7> units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  const std::size_t ordinary = scale == Scale::device ? 2 : 1;
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  // 999.95 is where one decimal would read 1000.0 and take a tenth character.
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
