// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace ttmem {

// Parses all of `text` as a number, independently of the locale. Returns nullopt if `text` is
// empty, if it contains anything besides the number (such as a blank or a plus sign), or if the
// value does not fit into a Number. For a whole number the caller may give a base, for example 8
// for file modes.
template <typename Number, typename... Base>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text, Base... base) noexcept {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base...);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace ttmem
