// SPDX-License-Identifier: Apache-2.0
#include "analyse/explain/wrapped_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace ttmem::explain {
namespace {

// The maximum length of a sentence and of one argument. The runtime writes hundreds of bytes.
constexpr std::size_t kMaxSentenceBytes = 4096;
constexpr std::size_t kMaxArgumentBytes = 64;

constexpr std::string_view kBlank = " \t\r";
constexpr std::string_view kArgument = "{}";

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// Removes what a quotation adds in front of a line: "> ", "| ", pytest's "E   ", or the same
// prefix of the log as in the first line.
std::string_view without_prefix(std::string_view line, std::string_view first_prefix) {
  if (!first_prefix.empty() && line.starts_with(first_prefix)) {
    line.remove_prefix(first_prefix.size());
  }
  for (line = without_blanks(line); !line.empty(); line = without_blanks(line)) {
    const bool is_quotation = line.front() == '>' || line.front() == '|';
    const bool is_pytest = line.size() > 1 && line[0] == 'E' && kBlank.find(line[1]) != line.npos;
    if (!is_quotation && !is_pytest) break;
    line.remove_prefix(1);
  }
  return line;
}

bool has_digit(std::string_view word) {
  return std::any_of(word.begin(), word.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

// Returns "@" for the name of a memory, "#" for a number or a placeholder ("{}"), and any other
// word unchanged.
std::string_view general(std::string_view word) {
  constexpr std::array<std::string_view, 5> names = {"DRAM", "L1", "L1_SMALL", "TRACE",
                                                     "SYSTEM_MEMORY"};
  if (std::find(names.begin(), names.end(), word) != names.end()) return "@";
  const bool is_value = has_digit(word) || word.find(kArgument) != std::string_view::npos;
  return is_value ? "#" : word;
}

std::string_view first_word(std::string_view text) {
  return text.substr(0, std::min(text.find_first_of(kBlank), text.size()));
}

std::string_view last_word(std::string_view text) {
  const std::size_t blank = text.find_last_of(kBlank);
  return blank == std::string_view::npos ? text : text.substr(blank + 1);
}

bool continues(std::string_view words, std::string_view text, std::string_view next) {
  return words.find(fmt::format(" {} {} ", general(last_word(text)), general(first_word(next)))) !=
         std::string_view::npos;
}

// Returns true if the line is one argument: a number, the name of a memory, or a range of cores.
bool is_argument(std::string_view line) {
  if (line.empty() || line.size() > kMaxArgumentBytes) return false;
  if (line.front() == '[' && line.back() == ']') return true;
  return line.find_first_of(kBlank) == std::string_view::npos && general(line) != line;
}

// The lines of a text from the second line on, without their prefixes.
class FollowingLines {
 public:
  FollowingLines(std::string_view text, std::string_view first_prefix)
      : text_(text), first_prefix_(without_blanks(first_prefix).empty() ? "" : first_prefix) {
    advance();
  }

  [[nodiscard]] std::size_t at() const { return at_; }  // offset of the next line
  [[nodiscard]] std::string_view next() const {
    return without_prefix(text_.substr(at_, line_end() - at_), first_prefix_);
  }
  void advance() { at_ = std::min(line_end() + 1, text_.size()); }

 private:
  [[nodiscard]] std::size_t line_end() const {
    return std::min(text_.find('\n', at_), text_.size());
  }

  std::string_view text_;
  std::string_view first_prefix_;
  std::size_t at_ = 0;
};

}  // namespace

Sentence sentence_at(std::string_view text, std::size_t begin, std::string_view words) {
  const std::string_view line = text.substr(0, text.find('\n'));
  FollowingLines lines(text, line.substr(0, begin));
  Sentence sentence{.text = std::string(without_blanks(line.substr(begin, kMaxSentenceBytes)))};
  while (sentence.text.size() < kMaxSentenceBytes) {
    const std::string_view next = lines.next();
    const bool is_open = sentence.text.find(kArgument) != std::string::npos;
    if (next.empty() || (is_open && is_argument(next))) break;
    if (!continues(words, sentence.text, next)) break;
    sentence.text += ' ';
    sentence.text += next.substr(0, kMaxSentenceBytes - sentence.text.size());
    lines.advance();
  }
  std::size_t argument = sentence.text.find(kArgument);
  while (argument != std::string::npos && is_argument(lines.next())) {
    const std::string_view value = lines.next();
    sentence.text.replace(argument, kArgument.size(), value);
    argument = sentence.text.find(kArgument, argument + value.size());
    lines.advance();
  }
  sentence.end = lines.at();
  return sentence;
}

}  // namespace ttmem::explain
