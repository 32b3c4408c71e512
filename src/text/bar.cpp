// SPDX-License-Identifier: Apache-2.0
#include "text/bar.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace ttmem::text {
namespace {

double clamped(double share) { return std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0; }

std::size_t rounded(double value) { return static_cast<std::size_t>(std::lround(value)); }

}  // namespace

std::vector<BarCell> bar_cells(const std::vector<BarPiece>& pieces, std::size_t cells,
                               std::size_t steps) {
  std::vector<BarCell> bar(cells);
  const auto width = static_cast<double>(cells);
  std::size_t last = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].end > pieces[i].begin) last = i;
  }
  std::size_t next = 0;  // first cell that no piece has taken
  for (std::size_t i = 0; i < pieces.size() && cells > 0; ++i) {
    if (!(pieces[i].end > pieces[i].begin)) continue;
    const std::size_t begin = std::max(next, rounded(clamped(pieces[i].begin) * width));
    const std::size_t first = std::min(cells - 1, begin);
    const std::size_t fine = i == last ? steps : 1;
    const std::size_t end = rounded(clamped(pieces[i].end) * width * static_cast<double>(fine));
    const std::size_t filled = end > first * fine ? end - first * fine : 0;
    next = first;
    for (std::size_t left = filled; left >= fine; left -= fine) bar[next++] = {i, steps};
    if (filled == 0) bar[next++] = {i, i == last ? 0 : steps};
    if (filled % fine != 0) bar[next++] = {i, filled % fine};
  }
  return bar;
}

std::string_view eighths(std::size_t filled) {
  constexpr std::array<std::string_view, 9> glyphs = {"▏", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
  return glyphs[filled];
}

void add_bar(Line& line, std::size_t cells, const BarPiece& piece, bool track,
             const TextOptions& options) {
  const std::string_view free = !track ? " " : options.unicode ? "░" : ".";
  for (const BarCell& cell : bar_cells({piece}, cells, options.unicode ? 8 : 1)) {
    if (cell.piece == BarCell::kFree) {
      line.add(free, Color::dim);
    } else {
      line.add(options.unicode ? eighths(cell.filled) : "#", color_of(piece.tone));
    }
  }
}

std::string spark(std::optional<double> share, const TextOptions& options) {
  if (!share) return "?";
  const double level = clamped(*share);
  if (level == 0) return options.unicode ? "·" : ".";
  if (!options.unicode) return std::to_string(std::min(9, static_cast<int>(level * 10)));
  constexpr std::array<std::string_view, 8> glyphs = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  return std::string(glyphs[std::min<std::size_t>(7, static_cast<std::size_t>(level * 8))]);
}

}  // namespace ttmem::text
