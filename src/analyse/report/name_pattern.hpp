// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ttmem::report {

// Replaces each number in a name by "#". For example, "request.17.logits" becomes
// "request.#.logits". Names of repeated work often contain a number. Pure.
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
