// SPDX-License-Identifier: Apache-2.0
#include "segment/safe_text.hpp"

#include <cstddef>
#include <cstdint>

namespace ttmem::segment {
namespace {

struct Character {
  std::size_t bytes = 0;  // 0: not UTF-8
  char32_t code = 0;
};

Character decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {1, lead};
  const std::size_t length = lead >= 0xf0 && lead < 0xf8 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead >= 0xf8 || text.size() < length) return {};
  char32_t code = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3f);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < smallest[length] || code > 0x10ffff || surrogate) return {};
  return {length, code};
}

bool harmless(char32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code <= 0x9f);
  const bool line_break = code == 0x2028 || code == 0x2029;
  const bool direction = code == 0x200e || code == 0x200f || code == 0x061c ||
                         (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return !control && !line_break && !direction;
}

}  // namespace

std::string safe_text(std::string_view field) {
  std::string_view rest = field.substr(0, field.find('\0'));
  std::string text;
  text.reserve(rest.size());
  while (!rest.empty()) {
    const Character next = decode(rest);
    if (next.bytes != 0 && harmless(next.code)) {
      text.append(rest.substr(0, next.bytes));
    } else {
      text.push_back('?');
    }
    rest.remove_prefix(next.bytes == 0 ? 1 : next.bytes);
  }
  return text;
}

}  // namespace ttmem::segment
