// SPDX-License-Identifier: Apache-2.0
#define NCURSES_WIDECHAR 1
#include "show/tui/terminal/painter.hpp"

#include <ncurses.h>

#include <array>
#include <utility>

namespace ttmem::tui {
namespace {

Depth depth_of_terminal() {
  if (!has_colors() || start_color() == ERR) return Depth::none;
  // Uses no colours if the terminal's own background cannot be kept, because colours may be
  // illegible on another background.
  if (use_default_colors() == ERR) return Depth::none;
  // A terminal with more than 65,536 colours encodes a colour as red, green and blue, like
  // xterm-direct.
  if (COLORS > 65'536) return Depth::direct;
  return COLORS >= 256 ? Depth::palette : Depth::basic;
}

}  // namespace

Painter::Painter(bool color) : depth_(color ? depth_of_terminal() : Depth::none) {}

int Painter::pair_of(int ink, int fill) {
  if (ink < 0 && fill < 0) return 0;
  const auto [known, is_new] = pairs_.try_emplace({ink, fill}, 0);
  if (!is_new) return known->second;
  const int number = static_cast<int>(pairs_.size());
  if (number < COLOR_PAIRS && init_extended_pair(number, ink, fill) != ERR) known->second = number;
  return known->second;
}

void Painter::put(int x, int y, const Cell& cell) {
  const Colors colors = colors_of(cell.style, depth_, theme_);
  attr_t attributes = A_NORMAL;
  if (cell.style.bold) attributes |= A_BOLD;
  if (cell.style.reverse) attributes |= A_REVERSE;
  if (colors.faint) attributes |= A_DIM;
  const std::array<wchar_t, 3> text = {static_cast<wchar_t>(cell.code),
                                       static_cast<wchar_t>(cell.mark), L'\0'};
  int pair = pair_of(colors.ink, colors.fill);
  cchar_t character{};
  setcchar(&character, text.data(), attributes, static_cast<short>(pair), &pair);
  mvadd_wch(y, x, &character);
}

void Painter::paint(const Frame& frame, Theme theme) {
  const Size size = frame.size();
  if (std::exchange(theme_, theme) != theme) forget();
  const bool whole = !last_ || last_->size() != size;
  if (whole) erase();
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const Cell& cell = frame.at(x, y);
      // Skips blank cells after erase(), which has cleared the screen. The light theme writes blank
      // cells too, because erase() does not paint its background.
      const bool blank = whole && theme == Theme::terminal && cell == Cell{};
      if (cell.tail || blank || (!whole && cell == last_->at(x, y))) continue;
      put(x, y, cell);
    }
  }
  refresh();
  last_ = frame;
}

}  // namespace ttmem::tui
