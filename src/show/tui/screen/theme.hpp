// SPDX-License-Identifier: Apache-2.0
//
// The colour of each Ink. Pure, safe from any thread.
#pragma once

#include <cstdint>

#include "show/tui/screen/frame.hpp"

namespace ttmem::tui {

// The number of colours of a terminal.
enum class Depth : std::uint8_t { none, basic, palette, direct };

// Colours as the terminal numbers them: 0 to 7, 0 to 255, or 0xrrggbb, depending on Depth. -1 is
// the terminal's own colour.
struct Colors {
  int ink = -1;
  int fill = -1;
  // True if the text needs the attribute "dim", because the terminal has no grey.
  bool faint = false;
};

// `terminal` draws on the terminal's own background, with colours that are legible on dark and on
// light backgrounds. `light` draws dark text on a white background.
enum class Theme : std::uint8_t { terminal, light };

[[nodiscard]] Colors colors_of(Style style, Depth depth, Theme theme);

}  // namespace ttmem::tui
