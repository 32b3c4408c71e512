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
  std::string_view branch, last_branch;  // branches of a tree
  std::string_view full, track, peak;  // cells of a bar
  // A filled cell in the bar of a part. It is lower than `full`, so that the bar does not touch the
  // bar in the line above.
  std::string_view part;
  std::string_view thin, thin_half, thin_track;  // cells of bars in adjacent lines
  std::string_view ellipsis, up, down, left, right;
  std::string_view dot;  // separator of notes
  // Cells that are filled from the bottom by 0 to 8 eighths.
  std::array<std::string_view, 9> eighths_up;
  // One character for each part of L1, for terminals without colour.
  std::array<std::string_view, 4> shades;
  std::string_view lockstep;  // L1 that lockstep takes on a core without the data
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
