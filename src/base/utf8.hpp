// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ttmem {

struct Utf8Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // length of the character; 0 means that the bytes are not UTF-8
};

// Decodes the first character of `text`, which must not be empty. Strict: overlong forms,
// surrogates, codes above U+10FFFF and characters that are cut off are not UTF-8.
[[nodiscard]] constexpr Utf8Character decode_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t code = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3fU);
  }
  constexpr std::array<char32_t, 5> smallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < smallest[bytes] || surrogate || code > 0x10ffff) return {};
  return {code, bytes};
}

}  // namespace ttmem
