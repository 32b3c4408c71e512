// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ttmem::report {

// "request.17.logits" as "request.#.logits": what a program does again and again often has a number
// in its name. Pure.
[[nodiscard]] inline std::string name_pattern(std::string_view name) {
  std::string pattern;
  pattern.reserve(name.size());
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) {
      pattern += c;
    } else if (pattern.empty() || pattern.back() != '#') {
      pattern += '#';
    }
  }
  return pattern;
}

}  // namespace ttmem::report
