// SPDX-License-Identifier: Apache-2.0
//
// Bars: which piece is in which cell, for every view. Pure, safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/text.hpp"

namespace ttmem::text {

// A piece of a bar: from `begin` to `end`, both shares of the whole, 0 to 1.
struct BarPiece {
  double begin = 0;
  double end = 0;
  Tone tone = Tone::none;
};

// What one cell of a bar holds.
struct BarCell {
  static constexpr std::size_t kFree = static_cast<std::size_t>(-1);

  std::size_t piece = kFree;  // index of the piece
  std::size_t filled = 0;     // steps from the left; 0: a piece of less than half a step
};

// A bar of exactly `cells` cells, each divided into `steps`. The pieces are sorted from left to
// right. A cell has one colour, and no glyph begins inside a cell, so only the last piece ends
// inside one. A piece that is not empty has at least one cell.
[[nodiscard]] std::vector<BarCell> bar_cells(const std::vector<BarPiece>& pieces, std::size_t cells,
                                             std::size_t steps);

// A cell filled from the left: 0 to 8 eighths. 0 is drawn as 1, so that it can be seen.
[[nodiscard]] std::string_view eighths(std::size_t filled);

// Adds a bar with one piece to `line`. With `track`, the free part is dim; without it is blank, so
// that the parts of a whole, one below the other, look like steps.
void add_bar(Line& line, std::size_t cells, const BarPiece& piece, bool track,
             const TextOptions& options);

// One character per share, higher is fuller; unknown is '?', nothing is '.'.
[[nodiscard]] std::string spark(std::optional<double> share, const TextOptions& options);

}  // namespace ttmem::text
