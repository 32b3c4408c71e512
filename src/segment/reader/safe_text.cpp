// SPDX-License-Identifier: Apache-2.0
#include "segment/reader/safe_text.hpp"

#include "base/utf8.hpp"

namespace ttmem::segment {
namespace {

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
    const Utf8Character next = decode_utf8(rest);
    if (next.bytes != 0 && harmless(next.code)) {
      text.append(rest.substr(0, next.bytes));
    } else {
      text.push_back('?');
    }
    rest.remove_prefix(next.bytes == 0 ? 1 : next.bytes);
  }
  return text;
}

std::string safe_lines(std::string_view field) {
  field = field.substr(0, field.find('\0'));
  std::string lines;
  for (std::size_t end = field.find('\n'); end != std::string_view::npos; end = field.find('\n')) {
    lines += safe_text(field.substr(0, end)) + "\n";
    field.remove_prefix(end + 1);
  }
  return lines + safe_text(field);
}

}  // namespace ttmem::segment
