// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace ttmem {

// All of `text` as a number, in any locale. None when the text is empty, has anything but the
// number (a blank, a plus), or when a Number cannot hold the value.
// Whole numbers take a base, for example 8 for file modes.
template <typename Number, typename... Base>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text, Base... base) noexcept {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base...);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace ttmem
