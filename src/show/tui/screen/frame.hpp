// SPDX-License-Identifier: Apache-2.0
//
// A screen as plain cells, without a terminal, so that every screen can be tested as text.
// painter.hpp shows a Frame, sgr.hpp prints one. Values, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ttmem::tui {

// What the terminal can show.
struct Display {
  bool unicode = true;  // false: nothing outside ASCII
  bool color = true;    // false: characters replace colours

  friend bool operator==(const Display&, const Display&) = default;
};

// What a colour means; the painter knows which one it is.
enum class Ink : std::uint8_t {
  plain,     // the terminal's own colour; as a fill: none
  dim,       // notes, frames
  title,     // headings and the tab that is open
  good,      // up to 60 %
  warn,      // up to 80 %
  bad,       // above 80 %, and errors
  track,     // the free part of a bar
  buffers,   // L1 buffers
  lockstep,  // L1 that is taken for bytes on other cores
  small,     // L1_SMALL
  cbs,       // circular buffers
  kernels,   // kernels
  reserved,  // firmware below the first CB
  heat0,     // a core without CBs and buffers; heat1 to heat6: fuller and fuller
  heat1,
  heat2,
  heat3,
  heat4,    // above 60 %
  heat5,    // above 80 %
  heat6,    // above 90 %
  on_fill,  // writing upon a fill
};
inline constexpr std::size_t kInks = static_cast<std::size_t>(Ink::on_fill) + 1;

struct Style {
  Ink ink = Ink::plain;
  Ink fill = Ink::plain;
  bool bold = false;
  bool reverse = false;

  friend bool operator==(const Style&, const Style&) = default;
};
inline constexpr Style kTitle{.ink = Ink::title, .bold = true};

struct Cell {
  char32_t code = U' ';
  char32_t mark = 0;  // one combining character upon it; 0: none
  Style style;
  bool tail = false;  // the right half of a wide character, which stands in the cell before

  friend bool operator==(const Cell&, const Cell&) = default;
};

struct Rect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;

  [[nodiscard]] bool contains(int px, int py) const {
    return px >= x && px < x + width && py >= y && py < y + height;
  }
  [[nodiscard]] bool empty() const { return width <= 0 || height <= 0; }
  friend bool operator==(const Rect&, const Rect&) = default;
};

struct Size {
  int width = 80;
  int height = 24;

  friend bool operator==(const Size&, const Size&) = default;
};

class Frame {
 public:
  explicit Frame(Size size);

  [[nodiscard]] Size size() const { return size_; }
  [[nodiscard]] const Cell& at(int x, int y) const { return cells_[index(x, y)]; }
  // Does nothing outside. Half of a wide character that is overwritten leaves a blank.
  void set(int x, int y, const Cell& cell);

  // Row by row without blanks at the end, each with its newline.
  [[nodiscard]] std::string text() const;
  // One row, blanks at its end included.
  [[nodiscard]] std::string row_text(int y) const;

 private:
  [[nodiscard]] std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(size_.width) +
           static_cast<std::size_t>(x);
  }

  Size size_;
  std::vector<Cell> cells_;
};

// Appends `code` as UTF-8.
void append_utf8(std::string& text, char32_t code);

// A rectangle of a frame to draw in, with coordinates of its own. Nothing drawn through it lies
// outside of it. The frame outlives it.
class Pane {
 public:
  Pane(Frame& frame, Rect rect, Display display);

  [[nodiscard]] int width() const { return rect_.width; }
  [[nodiscard]] int height() const { return rect_.height; }
  [[nodiscard]] Rect rect() const { return rect_; }
  [[nodiscard]] Display display() const { return display_; }
  [[nodiscard]] Pane part(Rect inner) const;

  // Writes `text` from (x, y) and returns the column behind it. What does not fit into `limit`
  // columns (or into the pane) ends with an ellipsis. Control characters become '?'.
  int put(int x, int y, std::string_view text, Style style = {}, int limit = -1);
  // The same, ending before column `end`. Returns its first column.
  int put_right(int end, int y, std::string_view text, Style style = {});
  // `count` times the one character `glyph`.
  void repeat(int x, int y, int count, std::string_view glyph, Style style = {});

 private:
  Frame* frame_;
  Rect rect_;
  Display display_;
};

}  // namespace ttmem::tui
