// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "show/tui/screen/frame.hpp"
#include "show/tui/screen/theme.hpp"

namespace ttmem::tui {

// Puts frames on the curses screen. Only for the thread that owns the screen.
class Painter {
 public:
  // After the curses screen has begun.
  explicit Painter(bool color);

  [[nodiscard]] Depth depth() const { return depth_; }
  // Writes the cells that differ from the last frame, or all of them in another theme.
  void paint(const Frame& frame, Theme theme);
  // Writes all of the next frame: what the terminal shows is unknown.
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
