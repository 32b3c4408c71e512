// SPDX-License-Identifier: Apache-2.0
#include "cli/attach/ninja_flags.hpp"

#include <utility>

namespace ttmem::attach {
namespace {

// Decodes "$ " to a blank, "$$" to a dollar and "$:" to a colon.
std::string without_ninja_escapes(std::string_view value) {
  std::string text;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '$' && i + 1 < value.size()) ++i;
    text += value[i];
  }
  return text;
}

bool changes_headers(std::string_view flag) {
  return flag.starts_with("-D") || flag.starts_with("-U") || flag.starts_with("-std=") ||
         flag.starts_with("-stdlib=");
}

// Removes the next line from `text`, and returns it.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace

std::vector<std::string> arguments_of(std::string_view value) {
  const std::string text = without_ninja_escapes(value);
  std::vector<std::string> arguments;
  std::string word;
  bool inside = false;  // true inside a word; the word may be empty: ""
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == '\0' && (c == ' ' || c == '\t')) {
      if (inside) arguments.push_back(std::exchange(word, {}));
      inside = false;
      continue;
    }
    inside = true;
    if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
    } else {
      word += c;
    }
  }
  if (inside) arguments.push_back(word);
  return arguments;
}

std::optional<std::vector<std::string>> flags_in_ninja(std::string_view ninja,
                                                       std::string_view object) {
  const std::string begin = "\nbuild " + std::string(object);
  const std::size_t found = ninja.find(begin);
  if (found == std::string_view::npos) return std::nullopt;
  ninja.remove_prefix(found + 1);
  next_line(ninja);
  std::vector<std::string> flags;
  while (ninja.starts_with("  ")) {
    const std::string_view line = next_line(ninja).substr(2);
    const std::size_t equals = line.find(" = ");
    if (equals == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, equals);
    const bool all = name == "DEFINES" || name == "INCLUDES";
    if (!all && name != "FLAGS") continue;
    for (std::string& flag : arguments_of(line.substr(equals + 3))) {
      if (all || changes_headers(flag)) flags.push_back(std::move(flag));
    }
  }
  return flags;
}

}  // namespace ttmem::attach
