// SPDX-License-Identifier: Apache-2.0
//
// Text for a terminal: what a string takes on the screen, and lines that never exceed a width.
// Pure: what the terminal can do is an argument. Safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ttmem::views {

// What the reader's terminal can show.
struct TextOptions {
  std::size_t width = 80;               // display cells; no line is wider
  bool color = false;                   // SGR sequences
  bool unicode = true;                  // false: nothing outside ASCII
  std::int64_t utc_offset_seconds = 0;  // of the times shown
};

enum class Color : std::uint8_t {
  plain,
  bold,
  dim,
  green,
  yellow,
  red,
  blue,
  magenta,
  cyan,
  on_green,
  on_yellow,
  on_red,
};

// Green up to 60 %, yellow to 80 %, red above.
[[nodiscard]] Color color_of_share(double share);

// `text` made safe to print: control characters and bytes that are not UTF-8 become '?', and so
// does everything outside ASCII when `unicode` is false. Names and labels come from other
// processes, which may have put terminal sequences into them.
[[nodiscard]] std::string printable(std::string_view text, bool unicode);

// The display cells of printable UTF-8: 2 for wide characters, 0 for combining ones.
[[nodiscard]] std::size_t display_width(std::string_view text);

// At most `width` cells of `text`; what was cut ends in an ellipsis ('~' without Unicode).
[[nodiscard]] std::string cut(std::string_view text, std::size_t width, bool unicode);

// One line under construction. Text beyond the width is cut when the line is finished.
class Line {
 public:
  explicit Line(const TextOptions& options) : options_(options) {}

  Line& add(std::string_view text, Color color = Color::plain);
  // Blanks up to display cell `column`; nothing when the line is there already.
  Line& pad_to(std::size_t column);
  [[nodiscard]] std::size_t width() const { return width_; }
  // Cells left before the options' width.
  [[nodiscard]] std::size_t room() const {
    return width_ < options_.width ? options_.width - width_ : 0;
  }
  // The line with its newline, without blanks at the end.
  [[nodiscard]] std::string finish() const;

 private:
  struct Span {
    std::string text;
    Color color;
  };

  const TextOptions& options_;
  std::vector<Span> spans_;
  std::size_t width_ = 0;
};

// `text` broken at blanks into lines that begin with `indent` blanks; in the first line `label`
// stands there. A word that is too long for a line is cut.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t indent, Color color,
                                  const TextOptions& options, std::string_view label = {});

}  // namespace ttmem::views
