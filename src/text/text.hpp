// SPDX-License-Identifier: Apache-2.0
//
// Text for a terminal: what a string takes on the screen, and lines that never exceed a width.
// Pure: what the terminal can do is an argument. Safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/units.hpp"

namespace ttmem::text {

// What the reader's terminal can show.
struct TextOptions {
  std::size_t width = 80;               // display cells; no line is wider while `shorten` is set
  bool color = false;                   // SGR sequences
  bool unicode = true;                  // false: nothing outside ASCII
  std::int64_t utc_offset_seconds = 0;  // of the times shown
  // What does not fit is left out or cut. False, for files and programs: lines may be wider.
  bool shorten = true;
  Units units = Units::automatic;  // of sizes
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

// What a colour says: how serious a figure is, or which part of L1 it is.
enum class Tone : std::uint8_t { none, good, warn, bad, buffers, small, cbs, kernels };
inline constexpr std::array<Tone, 4> kL1Parts = {Tone::buffers, Tone::small, Tone::cbs,
                                                 Tone::kernels};

// Good up to 60 % of a capacity, a warning up to 80 %, bad above; none when it is unknown.
inline constexpr double kWarnAbove = 0.6;
inline constexpr double kBadAbove = 0.8;
[[nodiscard]] Tone tone_of_share(std::optional<double> share);
[[nodiscard]] Color color_of(Tone tone);

// `text` made safe to print: control characters and bytes that are not UTF-8 become '?', and so
// does everything outside ASCII when `unicode` is false. Names and labels come from other
// processes, which may have put terminal sequences into them.
[[nodiscard]] std::string printable(std::string_view text, bool unicode);

// The display cells of printable UTF-8: 2 for wide characters, 0 for combining ones.
[[nodiscard]] std::size_t display_width(std::string_view text);

// At most `width` cells of `text`; what was cut ends in an ellipsis ('~' without Unicode).
[[nodiscard]] std::string cut(std::string_view text, std::size_t width, bool unicode);
// The same with the ellipsis in the middle: names often differ only at their ends.
[[nodiscard]] std::string cut_middle(std::string_view text, std::size_t width, bool unicode);

// As many of the parts as fit into `width` cells, from the first on, none of them cut; empty ones
// are skipped. With `count_rest` the text ends in " +2" when two parts did not fit.
[[nodiscard]] std::string joined_to_fit(const std::vector<std::string>& parts, std::size_t width,
                                        std::string_view between = ", ", bool count_rest = false);

// One line under construction. Text beyond the width is cut when the line is finished, if the
// options say so.
class Line {
 public:
  explicit Line(const TextOptions& options) : options_(options) {}

  // Adds printable(text).
  Line& add(std::string_view text, Color color = Color::plain);
  // Blanks up to display cell `column`; nothing when the line is there already.
  Line& pad_to(std::size_t column);
  [[nodiscard]] std::size_t width() const { return width_; }
  // Cells left before the options' width; any number when nothing is shortened.
  [[nodiscard]] std::size_t room() const {
    if (!options_.shorten) return SIZE_MAX;
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
// stands there. A word that is too long for a line is cut, if the options say so.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t indent, Color color,
                                  const TextOptions& options, std::string_view label = {});

}  // namespace ttmem::text
