// SPDX-License-Identifier: Apache-2.0
#include "text/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace ttmem::text {
namespace {

constexpr std::array<std::string_view, 4> kTyped = {"auto", "bytes", "mib", "gib"};

}  // namespace

Result<Units> parse_units(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto found = std::find(kTyped.begin(), kTyped.end(), lower);
  if (found == kTyped.end()) return Error{"must be auto, bytes, MiB or GiB"};
  return static_cast<Units>(found - kTyped.begin());
}

std::string_view name_of(Units units) {
  constexpr std::array<std::string_view, 4> names = {"", "B", "MiB", "GiB"};
  return names[static_cast<std::size_t>(units)];
}

std::string number_in(std::uint64_t bytes, Units units) {
  if (units == Units::bytes) return fmt::format("{}", bytes);
  const double value = std::ldexp(static_cast<double>(bytes), units == Units::gib ? -30 : -20);
  int decimals = 2;
  for (double least = 0.005; bytes > 0 && value < least; least /= 10) ++decimals;
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace ttmem::text
