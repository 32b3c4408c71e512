// SPDX-License-Identifier: Apache-2.0
//
// Makes foreign text (of a process, a recording, another machine, a log) safe for terminals. All
// outputs of ttmem replace or escape the characters for which is_unsafe() returns true.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/utf8.hpp"

namespace ttmem {

// Returns true for a character that a terminal interprets instead of showing: C0 and C1 controls,
// DEL, line breaks, and characters that change the writing direction.
[[nodiscard]] constexpr bool is_unsafe(char32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code <= 0x9f);
  const bool line_break = code == 0x2028 || code == 0x2029;
  const bool direction = code == 0x200e || code == 0x200f || code == 0x061c ||
                         (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return control || line_break || direction;
}

// Returns `text` as well-formed UTF-8. Replaces by '?' every unsafe character that is not in
// `kept`, and every byte that is not UTF-8. A character that the end of the text cuts off counts as
// not UTF-8.
[[nodiscard]] inline std::string replace_unsafe(std::string_view text, std::string_view kept = {}) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const auto plain = static_cast<std::size_t>(
        std::find_if(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }) -
        text.begin());
    safe.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const Utf8Character next = decode_utf8(text);
    const bool stays =
        next.bytes != 0 && (!is_unsafe(next.code) || kept.find(text[0]) < kept.size());
    const std::size_t bytes = next.bytes == 0 ? 1 : next.bytes;
    safe.append(stays ? text.substr(0, bytes) : "?");
    text.remove_prefix(bytes);
  }
  return safe;
}

// Returns the text of a fixed-size field, up to its first NUL, as one line.
[[nodiscard]] inline std::string safe_text(std::string_view field) {
  return replace_unsafe(field.substr(0, field.find('\0')));
}

// Returns the text of a fixed-size field, up to its first NUL. Keeps its line feeds.
[[nodiscard]] inline std::string safe_lines(std::string_view field) {
  return replace_unsafe(field.substr(0, field.find('\0')), "\n");
}

// Returns the JSON document with the unsafe characters of its strings escaped as \uXXXX. `json`
// must be valid JSON in UTF-8, so characters below U+0020 are escaped already.
[[nodiscard]] inline std::string escape_unsafe(std::string json) {
  // Searches for a byte of 0x7f or more: every unsafe character above U+0020 starts with such a
  // byte.
  auto at = static_cast<std::size_t>(
      std::find_if(json.begin(), json.end(),
                   [](char c) { return static_cast<unsigned char>(c) >= 0x7f; }) -
      json.begin());
  if (at == json.size()) return json;
  std::string escaped = json.substr(0, at);
  while (at < json.size()) {
    const Utf8Character next = decode_utf8(std::string_view(json).substr(at));
    if (next.bytes != 0 && next.code >= 0x7f && is_unsafe(next.code)) {
      constexpr std::string_view digits = "0123456789abcdef";
      escaped += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4) escaped += digits[(next.code >> shift) & 0xfU];
    } else {
      escaped.append(json, at, next.bytes == 0 ? 1 : next.bytes);
    }
    at += next.bytes == 0 ? 1 : next.bytes;
  }
  return escaped;
}

// Serializes a value of nlohmann::json for programs and terminals. The result is valid JSON without
// unsafe characters, whatever bytes the strings hold. `indent` -1 writes one line.
template <typename Json>
[[nodiscard]] std::string json_text(const Json& json, int indent = -1) {
  return escape_unsafe(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

// Returns a CSV field, quoted if RFC 4180 requires it. Keeps tabs and line feeds, and replaces all
// other unsafe characters by '?'.
[[nodiscard]] inline std::string csv_field(std::string_view text) {
  std::string safe = replace_unsafe(text, "\t\n");
  if (safe.find_first_of(",\"\n") == std::string::npos) return safe;
  std::string quoted = "\"";
  for (const char c : safe) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace ttmem
