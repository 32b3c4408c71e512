// SPDX-License-Identifier: Apache-2.0
//
// Text for a terminal: the width of a string on the screen, and lines that are cut to a width.
// Pure: the abilities of the terminal are an argument. Safe from any thread.
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

// The abilities of the reader's terminal.
struct TextOptions {
  std::size_t width = 80;  // maximum width of a line in display cells, if `shorten` is true
  bool color = false;      // use SGR sequences
  bool unicode = true;     // false: use ASCII only
  std::int64_t utc_offset_seconds = 0;  // offset from UTC of the shown times
  // True: text that does not fit is left out or cut. False: lines may be wider, because the output
  // goes to a file or to another program.
  bool shorten = true;
  Units units = Units::automatic;  // units of sizes
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

// The meaning of a colour: how serious a figure is, or which part of L1 it shows.
enum class Tone : std::uint8_t { none, good, warn, bad, buffers, small, cbs, kernels };
inline constexpr std::array<Tone, 4> kL1Parts = {Tone::buffers, Tone::small, Tone::cbs,
                                                 Tone::kernels};

// A share of a capacity is good up to 60 %, a warning up to 80 %, and bad above 80 %. An unknown
// share has no tone.
inline constexpr double kWarnAbove = 0.6;
inline constexpr double kBadAbove = 0.8;
[[nodiscard]] Tone tone_of_share(std::optional<double> share);
[[nodiscard]] Color color_of(Tone tone);

// Returns `text` made safe to print: control characters, invisible characters and bytes that are
// not UTF-8 become '?'. If `unicode` is false, all characters outside ASCII become '?' too. Names
// and labels come from other processes and may contain terminal sequences.
[[nodiscard]] std::string printable(std::string_view text, bool unicode);

// Returns the number of display cells of printable UTF-8: 2 for a wide character, 0 for a combining
// character.
[[nodiscard]] std::size_t display_width(std::string_view text);

// Cuts `text` to at most `width` cells. A cut text ends in an ellipsis ('~' without Unicode).
[[nodiscard]] std::string cut(std::string_view text, std::size_t width, bool unicode);
// Cuts like cut(), with the ellipsis in the middle. Suits names, which often differ only at their
// ends.
[[nodiscard]] std::string cut_middle(std::string_view text, std::size_t width, bool unicode);

// Joins as many parts as fit into `width` cells, from the first part on. Never cuts a part. Skips
// empty parts. With `count_rest`, the text ends in " +2" if two parts did not fit.
[[nodiscard]] std::string joined_to_fit(const std::vector<std::string>& parts, std::size_t width,
                                        std::string_view between = ", ", bool count_rest = false);

// One line under construction. finish() cuts the text beyond the width if `options.shorten` is
// true.
class Line {
 public:
  explicit Line(const TextOptions& options) : options_(options) {}

  // Adds printable(text).
  Line& add(std::string_view text, Color color = Color::plain);
  // Adds blanks up to display cell `column`. Adds nothing if the line is already that long.
  Line& pad_to(std::size_t column);
  [[nodiscard]] std::size_t width() const { return width_; }
  // Returns the number of cells that are left in the line, or SIZE_MAX if nothing is shortened.
  [[nodiscard]] std::size_t room() const {
    if (!options_.shorten) return SIZE_MAX;
    return width_ < options_.width ? options_.width - width_ : 0;
  }
  // Returns the line with its newline, without blanks at the end.
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

// Breaks `text` at blanks into lines that begin with `indent` blanks. In the first line, `label`
// replaces these blanks. Cuts a word that is too long for a line if `options.shorten` is true.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t indent, Color color,
                                  const TextOptions& options, std::string_view label = {});

}  // namespace ttmem::text
