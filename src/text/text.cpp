// SPDX-License-Identifier: Apache-2.0
#include "text/text.hpp"

#include <algorithm>
#include <array>

#include "base/safe_text.hpp"
#include "base/utf8.hpp"

namespace ttmem::text {
namespace {

// Returns true for characters that is_unsafe() rejects and for invisible characters.
bool is_control(char32_t code) {
  return is_unsafe(code) || (code >= 0x200b && code <= 0x200d) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

std::size_t cells_of(char32_t code) {
  if (code < 0x300) return 1;  // a quick answer for nearly all text
  const auto within = [code](char32_t low, char32_t high) { return code >= low && code <= high; };
  if (within(0x300, 0x36f) || within(0x1ab0, 0x1aff) || within(0x20d0, 0x20ff) ||
      within(0xfe00, 0xfe0f) || within(0xfe20, 0xfe2f)) {
    return 0;
  }
  if (within(0x1100, 0x115f) || within(0x2e80, 0x303e) || within(0x3041, 0xa4cf) ||
      within(0xa960, 0xa97f) || within(0xac00, 0xd7a3) || within(0xf900, 0xfaff) ||
      within(0xfe30, 0xfe6f) || within(0xff00, 0xff60) || within(0xffe0, 0xffe6) ||
      within(0x1f300, 0x1f64f) || within(0x1f680, 0x1f6ff) || within(0x1f900, 0x1faff) ||
      within(0x20000, 0x3fffd)) {
    return 2;
  }
  return 1;
}

std::string_view sequence_of(Color color) {
  constexpr std::array<std::string_view, 12> sequences = {
      "",         "\x1b[1m",  "\x1b[2m",  "\x1b[32m",    "\x1b[33m",    "\x1b[31m",
      "\x1b[34m", "\x1b[35m", "\x1b[36m", "\x1b[30;42m", "\x1b[30;43m", "\x1b[97;41m"};
  return sequences[static_cast<std::size_t>(color)];
}

std::string_view ellipsis(bool unicode) { return unicode ? "…" : "~"; }

std::size_t bytes_of_first(std::string_view text) {
  return std::max<std::size_t>(decode_utf8(text).bytes, 1);
}

// Returns the longest beginning of `text` that fits into `width` cells.
std::string_view begin_of(std::string_view text, std::size_t width) {
  std::size_t cells = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    const Utf8Character next = decode_utf8(text.substr(end));
    const std::size_t more = next.bytes == 0 ? 1 : cells_of(next.code);
    if (cells + more > width) break;
    cells += more;
    end += std::max<std::size_t>(next.bytes, 1);
  }
  return text.substr(0, end);
}

}  // namespace

Tone tone_of_share(std::optional<double> share) {
  if (!share) return Tone::none;
  if (*share <= kWarnAbove) return Tone::good;
  return *share <= kBadAbove ? Tone::warn : Tone::bad;
}

Color color_of(Tone tone) {
  using enum Color;
  constexpr std::array<Color, 8> colors = {dim, green, yellow, red, blue, cyan, magenta, yellow};
  return colors[static_cast<std::size_t>(tone)];
}

std::string printable(std::string_view text, bool unicode) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character next = decode_utf8(text);
    const bool keep = next.bytes != 0 && !is_control(next.code) && (unicode || next.code < 0x80);
    const std::size_t bytes = std::max<std::size_t>(next.bytes, 1);
    result.append(keep ? text.substr(0, bytes) : "?");
    text.remove_prefix(bytes);
  }
  return result;
}

std::size_t display_width(std::string_view text) {
  std::size_t cells = 0;
  while (!text.empty()) {
    const Utf8Character next = decode_utf8(text);
    cells += next.bytes == 0 ? 1 : cells_of(next.code);
    text.remove_prefix(std::max<std::size_t>(next.bytes, 1));
  }
  return cells;
}

std::string cut(std::string_view text, std::size_t width, bool unicode) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  return std::string(begin_of(text, width - 1)).append(ellipsis(unicode));
}

std::string cut_middle(std::string_view text, std::size_t width, bool unicode) {
  const std::size_t cells = display_width(text);
  if (cells <= width) return std::string(text);
  if (width == 0) return {};
  const std::string_view begin = begin_of(text, (width - 1) / 2);
  const std::size_t room = width - 1 - display_width(begin);
  // Leaves out a wide character of which only one half would fit.
  std::string_view end = text.substr(begin_of(text, cells - room).size());
  while (display_width(end) > room) end.remove_prefix(bytes_of_first(end));
  return std::string(begin).append(ellipsis(unicode)).append(end);
}

std::string joined_to_fit(const std::vector<std::string>& parts, std::size_t width,
                          std::string_view between, bool count_rest) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty()) continue;
    const auto with_rest = [&](const std::string& begin, std::size_t rest) {
      return count_rest && rest > 0 ? begin + " +" + std::to_string(rest) : begin;
    };
    std::string longer = text;
    if (!text.empty()) longer += between;
    longer += parts[i];
    if (display_width(with_rest(longer, parts.size() - i - 1)) > width) {
      return with_rest(text, parts.size() - i);
    }
    text = std::move(longer);
  }
  return text;
}

Line& Line::add(std::string_view text, Color color) {
  if (text.empty()) return *this;
  std::string shown = printable(text, options_.unicode);
  width_ += display_width(shown);
  if (!spans_.empty() && spans_.back().color == color) {
    spans_.back().text += shown;
  } else {
    spans_.push_back({std::move(shown), color});
  }
  return *this;
}

Line& Line::pad_to(std::size_t column) {
  if (width_ < column) add(std::string(column - width_, ' '));
  return *this;
}

std::string Line::finish() const {
  std::string result;
  std::size_t used = 0;
  const std::size_t width = options_.shorten ? options_.width : SIZE_MAX;
  for (std::size_t i = 0; i < spans_.size() && used < width; ++i) {
    const std::string text = cut(spans_[i].text, width - used, options_.unicode);
    used += display_width(text);
    const std::string_view begin = options_.color ? sequence_of(spans_[i].color) : "";
    result.append(begin).append(text).append(begin.empty() ? "" : "\x1b[0m");
  }
  result.erase(result.find_last_not_of(' ') + 1);
  return result + "\n";
}

std::string wrapped(std::string_view text, std::size_t indent, Color color,
                    const TextOptions& options, std::string_view label) {
  std::string result;
  std::string line;
  const auto flush = [&] {
    if (line.empty()) return;
    const std::string_view begin = result.empty() ? label : std::string_view();
    result += Line(options).add(begin).pad_to(indent).add(line, color).finish();
    line.clear();
  };
  const std::size_t room = options.width > indent ? options.width - indent : 1;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && display_width(line) + 1 + display_width(word) > room) flush();
    if (!line.empty()) line += ' ';
    line += word;
  }
  flush();
  return result;
}

}  // namespace ttmem::text
