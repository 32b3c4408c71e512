// SPDX-License-Identifier: Apache-2.0
//
// The characters of screens, and their ASCII replacements.
#pragma once

#include <array>
#include <string_view>

#include "show/tui/screen/frame.hpp"

namespace ttmem::tui {

// clang-format off
struct Glyphs {
  std::string_view horizontal, vertical, top_left, top_right, bottom_left, bottom_right;
  std::string_view branch, last_branch;  // of a tree
  std::string_view full, track, peak;            // of a bar
  std::string_view part;  // of the bar of a part, below the bar of the whole; the bars do not touch
  std::string_view thin, thin_half, thin_track;  // of bars in adjacent lines
  std::string_view ellipsis, up, down, left, right;
  std::string_view dot;                          // between notes
  std::array<std::string_view, 9> eighths_up;  // cells filled from the bottom
  std::array<std::string_view, 4> shades;  // the parts of L1 on terminals without colour
  std::string_view lockstep;  // L1 that is taken for data on other cores
};

inline constexpr Glyphs kUnicodeGlyphs = {
    "─", "│", "┌", "┐", "└", "┘", "├─", "└─", "█", "░", "┃", "▆", "━", "╸", "─",
    "…", "▲", "▼", "◀", "▶", "·",
    {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, {"▓", "▒", "█", "░"}, "╱"};

inline constexpr Glyphs kAsciiGlyphs = {
    "-", "|", "+", "+", "+", "+", "|-", "`-", "#", ".", "!", "#", "#", "-", ".",
    "~", "^", "v", "<", ">", "-",
    {" ", " ", "_", "_", ".", ":", "+", "#", "#"}, {"b", "s", "c", "k"}, "/"};
// clang-format on

[[nodiscard]] constexpr const Glyphs& glyphs_of(Display display) {
  return display.unicode ? kUnicodeGlyphs : kAsciiGlyphs;
}

}  // namespace ttmem::tui
