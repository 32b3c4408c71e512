// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "show/tui/screen/frame.hpp"
#include "show/tui/screen/theme.hpp"

namespace ttmem::tui {

// Writes frames to the curses screen. Only for the thread that owns the screen.
class Painter {
 public:
  // Must be called after the curses screen was started.
  explicit Painter(bool color);

  [[nodiscard]] Depth depth() const { return depth_; }
  // Writes the cells that differ from the last frame. Writes all cells if the theme or the size
  // changed.
  void paint(const Frame& frame, Theme theme);
  // Makes the next paint() write all cells. Call this function if the content of the terminal is
  // unknown.
  void forget() { last_.reset(); }

 private:
  [[nodiscard]] int pair_of(int ink, int fill);
  void put(int x, int y, const Cell& cell);

  Depth depth_ = Depth::none;
  Theme theme_ = Theme::terminal;
  std::map<std::pair<int, int>, int> pairs_;
  std::optional<Frame> last_;
};

}  // namespace ttmem::tui
