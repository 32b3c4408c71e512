// SPDX-License-Identifier: Apache-2.0
#include "show/tui/screen/sgr.hpp"

#include <fmt/format.h>

namespace ttmem::tui {
namespace {

std::string color_code(int color, Depth depth, bool fill) {
  if (color < 0) return {};
  if (depth == Depth::basic) return fmt::format(";{}", color + (fill ? 40 : 30));
  if (depth == Depth::palette) return fmt::format(";{};5;{}", fill ? 48 : 38, color);
  return fmt::format(";{};2;{};{};{}", fill ? 48 : 38, color >> 16, (color >> 8) & 0xff,
                     color & 0xff);
}

std::string sequence_of(Style style, Depth depth) {
  const Colors colors = colors_of(style, depth, Theme::terminal);
  std::string codes = "0";
  if (style.bold) codes += ";1";
  if (colors.faint) codes += ";2";
  if (style.reverse) codes += ";7";
  codes += color_code(colors.ink, depth, false) + color_code(colors.fill, depth, true);
  return "\x1b[" + codes + "m";
}

bool is_blank(const Cell& cell) {
  return cell.code == U' ' && !cell.tail && !cell.style.reverse && cell.style.fill == Ink::plain;
}

std::string line_of(const Frame& frame, int y, Depth depth) {
  int end = frame.size().width;
  while (end > 0 && is_blank(frame.at(end - 1, y))) --end;
  std::string line;
  Style now;
  for (int x = 0; x < end; ++x) {
    const Cell& cell = frame.at(x, y);
    if (cell.tail) continue;
    if (depth != Depth::none && cell.style != now) {
      line += sequence_of(cell.style, depth);
      now = cell.style;
    }
    append_utf8(line, cell.code);
    if (cell.mark != 0) append_utf8(line, cell.mark);
  }
  if (now != Style{}) line += "\x1b[0m";
  return line;
}

}  // namespace

std::string frame_to_sgr(const Frame& frame, Depth depth) {
  std::string text;
  std::size_t end = 0;  // position after the last line that is not empty
  for (int y = 0; y < frame.size().height; ++y) {
    const std::string line = line_of(frame, y, depth);
    text += line + "\n";
    if (!line.empty()) end = text.size();
  }
  text.resize(end);
  return text;
}

}  // namespace ttmem::tui
