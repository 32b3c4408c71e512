// SPDX-License-Identifier: Apache-2.0
//
// Which colour an Ink is. Pure, safe from any thread.
#pragma once

#include <cstdint>

#include "show/tui/screen/frame.hpp"

namespace ttmem::tui {

// How many colours a terminal has.
enum class Depth : std::uint8_t { none, basic, palette, direct };

// Numbers as the terminal counts its colours: 0 to 7, 0 to 255, or 0xrrggbb; -1 is the terminal's
// own.
struct Colors {
  int ink = -1;
  int fill = -1;
  bool faint = false;  // an attribute, where there is no grey
};

// `terminal` leaves the ground to the terminal, and is legible on dark and on light ones. `light`
// is dark ink on a white ground of its own.
enum class Theme : std::uint8_t { terminal, light };

[[nodiscard]] Colors colors_of(Style style, Depth depth, Theme theme);

}  // namespace ttmem::tui
