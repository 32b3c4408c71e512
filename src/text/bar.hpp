// SPDX-License-Identifier: Apache-2.0
//
// Lays out bars for every view: decides which piece fills which cell. Pure, safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/text.hpp"

namespace ttmem::text {

// A piece of a bar, from `begin` to `end`. Both are shares of the whole, 0 to 1.
struct BarPiece {
  double begin = 0;
  double end = 0;
  Tone tone = Tone::none;
};

// The content of one cell of a bar.
struct BarCell {
  static constexpr std::size_t kFree = static_cast<std::size_t>(-1);

  std::size_t piece = kFree;  // index of the piece
  std::size_t filled = 0;  // filled steps from the left; 0 means a piece of less than half a step
};

// Returns a bar of exactly `cells` cells, each divided into `steps`. The pieces must be sorted from
// left to right. Only the last piece can end inside a cell; other pieces are rounded to whole
// cells, because a cell has one colour and no glyph begins inside a cell. A piece that is not empty
// gets at least one cell. At the right end, a later piece may take that cell from an earlier piece.
[[nodiscard]] std::vector<BarCell> bar_cells(const std::vector<BarPiece>& pieces, std::size_t cells,
                                             std::size_t steps);

// Returns the glyph of a cell whose left `filled` eighths are filled, 0 to 8. Zero eighths are
// drawn as one eighth, so that the piece is visible.
[[nodiscard]] std::string_view eighths(std::size_t filled);

// Adds a bar with one piece to `line`. With `track` the free part is drawn dim. Without `track` the
// free part is blank. If the parts of one whole are drawn as bars below each other, the bars then
// look like steps.
void add_bar(Line& line, std::size_t cells, const BarPiece& piece, bool track,
             const TextOptions& options);

// Returns one character for a share: '▁' to '█', or '0' to '9' without Unicode. Returns '?' for an
// unknown share, and '·' ('.' without Unicode) for zero.
[[nodiscard]] std::string spark(std::optional<double> share, const TextOptions& options);

}  // namespace ttmem::text
