// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace ttmem {

// The maximum nesting of a JSON document. Documents of ttmem are nested 8 deep.
inline constexpr int kMaxJsonDepth = 16;

// Returns true if the objects and lists in `text` are nested deeper than kMaxJsonDepth. Do not
// parse a text that is nested too deep: copying or printing the parsed document takes stack for
// each level. `text` need not be JSON.
[[nodiscard]] constexpr bool is_nested_too_deep(std::string_view text) {
  int depth = 0;
  bool is_in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') is_in_string = !is_in_string;
    if (is_in_string) {
      if (c == '\\') ++i;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace ttmem
