// SPDX-License-Identifier: Apache-2.0
//
// The characters that screens are drawn with, and their ASCII stand-ins.
#pragma once

#include <array>
#include <string_view>

#include "tui/screen/frame.hpp"

namespace ttmem::tui {

struct Glyphs {
  std::string_view horizontal, vertical;
  std::string_view top_left, top_right, bottom_left, bottom_right;
  std::string_view branch, last_branch;  // of a tree
  std::string_view full, track, peak;    // of a bar
  std::string_view part;                 // of a bar below another one, which it does not touch
  std::string_view thin, thin_half, thin_track;  // of bars in line below line
  std::string_view ellipsis;
  std::string_view up, down, left, right;
  std::string_view dot;                           // between notes
  std::array<std::string_view, 9> eighths_right;  // filled from the left
  std::array<std::string_view, 9> eighths_up;     // filled from below
  std::array<std::string_view, 4> shades;  // kinds without colour: buffers, small, CB, kernels
};

inline constexpr Glyphs kUnicodeGlyphs = {"─",
                                          "│",
                                          "┌",
                                          "┐",
                                          "└",
                                          "┘",
                                          "├─",
                                          "└─",
                                          "█",
                                          "░",
                                          "┃",
                                          "▆",
                                          "━",
                                          "╸",
                                          "─",
                                          "…",
                                          "▲",
                                          "▼",
                                          "◀",
                                          "▶",
                                          "·",
                                          {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"},
                                          {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
                                          {"▓", "▒", "█", "░"}};

inline constexpr Glyphs kAsciiGlyphs = {"-",
                                        "|",
                                        "+",
                                        "+",
                                        "+",
                                        "+",
                                        "|-",
                                        "`-",
                                        "#",
                                        ".",
                                        "!",
                                        "#",
                                        "#",
                                        "-",
                                        ".",
                                        "~",
                                        "^",
                                        "v",
                                        "<",
                                        ">",
                                        "-",
                                        {".", ".", ".", ".", "#", "#", "#", "#", "#"},
                                        {" ", " ", "_", "_", ".", ":", "+", "#", "#"},
                                        {"b", "s", "c", "k"}};

[[nodiscard]] constexpr const Glyphs& glyphs_of(Look look) {
  return look.unicode ? kUnicodeGlyphs : kAsciiGlyphs;
}

}  // namespace ttmem::tui
