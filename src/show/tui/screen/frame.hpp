// SPDX-License-Identifier: Apache-2.0
//
// A screen as plain cells without a terminal, so that tests can compare every screen as text.
// Painter (painter.hpp) writes a Frame to the terminal, frame_to_sgr() (sgr.hpp) returns a Frame as
// text. Safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ttmem::tui {

// The abilities of the terminal.
struct Display {
  bool unicode = true;  // false: only ASCII characters
  bool color = true;    // false: characters replace colours

  friend bool operator==(const Display&, const Display&) = default;
};

// The meaning of a colour. theme.hpp maps each meaning to a colour.
enum class Ink : std::uint8_t {
  plain,     // the terminal's own text colour, or its background as a fill
  dim,       // notes, frames
  title,     // headings and the open tab
  good,      // a share of a memory up to 60 %
  warn,      // a share above 60 % and up to 80 %
  bad,       // a share above 80 %, and errors
  track,     // the free part of a bar
  buffers,   // L1 buffers
  lockstep,  // L1 that lockstep takes on a core without the data
  small,     // L1_SMALL
  cbs,       // circular buffers
  kernels,   // kernels
  reserved,  // firmware, below the lowest circular buffer
  // heat0 to heat6 colour a core by the share of its L1 that circular buffers and L1 buffers take.
  // heat0 means 0 % or unknown.
  heat0,
  heat1,
  heat2,
  heat3,
  heat4,    // above 60 %
  heat5,    // above 80 %
  heat6,    // above 90 %
  on_fill,  // text on a fill
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
  char32_t mark = 0;  // one combining character on top of `code`; 0: none
  Style style;
  bool tail = false;  // right half of a wide character; the previous cell has the character

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
  // Sets a cell. Does nothing outside the frame. If the cell was half of a wide character, its
  // other half becomes blank.
  void set(int x, int y, const Cell& cell);

  // Returns all rows without trailing blanks. Each row ends with a newline.
  [[nodiscard]] std::string text() const;
  // Returns one row including its trailing blanks.
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

// A rectangle of a frame with its own coordinates. Cells outside the rectangle cannot be changed.
// The frame must outlive the pane.
class Pane {
 public:
  Pane(Frame& frame, Rect rect, Display display);

  [[nodiscard]] int width() const { return rect_.width; }
  [[nodiscard]] int height() const { return rect_.height; }
  [[nodiscard]] Rect rect() const { return rect_; }
  [[nodiscard]] Display display() const { return display_; }
  [[nodiscard]] Pane part(Rect inner) const;

  // Writes `text` from (x, y) and returns the column after the text. A text that is longer than
  // `limit` columns or leaves the pane is cut and ends with an ellipsis. A negative `limit` means
  // no limit. Control characters become '?'.
  int put(int x, int y, std::string_view text, Style style = {}, int limit = -1);
  // Writes `text` so that it ends before column `end`. Returns the first column of the text.
  int put_right(int end, int y, std::string_view text, Style style = {});
  // Writes the character `glyph` `count` times.
  void repeat(int x, int y, int count, std::string_view glyph, Style style = {});

 private:
  Frame* frame_;
  Rect rect_;
  Display display_;
};

}  // namespace ttmem::tui
