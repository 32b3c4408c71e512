// SPDX-License-Identifier: Apache-2.0
#include "read/imports/core_range_set.hpp"

#include <charconv>

namespace ttmem::imports {
namespace {

// Reads a text from its beginning, piece by piece. Skips blanks.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool take(std::string_view token) {
    skip_blanks();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  [[nodiscard]] bool take(std::uint32_t& number) {
    skip_blanks();
    const char* const end = rest_.data() + rest_.size();
    const auto [after, error] = std::from_chars(rest_.data(), end, number);
    if (error != std::errc{}) return false;
    rest_.remove_prefix(static_cast<std::size_t>(after - rest_.data()));
    return true;
  }
  [[nodiscard]] bool at_end() {
    skip_blanks();
    return rest_.empty();
  }

 private:
  void skip_blanks() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

// Reads "7-7" or "(x=7,y=7)".
bool take_core(Scanner& scanner, std::uint32_t& x, std::uint32_t& y) {
  if (!scanner.take("(")) return scanner.take(x) && scanner.take("-") && scanner.take(y);
  return scanner.take("x=") && scanner.take(x) && scanner.take(",") && scanner.take("y=") &&
         scanner.take(y) && scanner.take(")");
}

bool take_range(Scanner& scanner, CoreRange& range) {
  return scanner.take("[") && take_core(scanner, range.x0, range.y0) && scanner.take("-") &&
         take_core(scanner, range.x1, range.y1) && scanner.take("]") && range.x0 <= range.x1 &&
         range.y0 <= range.y1;
}

}  // namespace

std::optional<std::vector<CoreRange>> parse_core_range_set(std::string_view text) {
  Scanner scanner(text);
  std::vector<CoreRange> ranges;
  if (!scanner.take("{")) return std::nullopt;
  if (scanner.take("}")) return scanner.at_end() ? std::optional(ranges) : std::nullopt;
  do {
    if (!take_range(scanner, ranges.emplace_back())) return std::nullopt;
  } while (scanner.take(","));
  if (!scanner.take("}") || !scanner.at_end()) return std::nullopt;
  return ranges;
}

}  // namespace ttmem::imports
