// SPDX-License-Identifier: Apache-2.0
#include "views/bar.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace ttmem::views {
namespace {

std::string repeated(std::string_view glyph, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += glyph;
  return result;
}

double clamped(double share) { return std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0; }

std::size_t rounded(double value) { return static_cast<std::size_t>(std::lround(value)); }

// How much of a cell is filled, in eighths from the left.
std::string_view eighths(std::size_t filled) {
  constexpr std::array<std::string_view, 9> glyphs = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
  return glyphs[filled];
}

}  // namespace

void add_bar(Line& line, std::size_t cells, const BarPiece& piece, bool track,
             const TextOptions& options) {
  if (cells == 0) return;
  const double begin = clamped(piece.begin);
  const double end = std::max(begin, clamped(piece.end));
  const std::size_t steps = options.unicode ? 8 : 1;  // per cell
  // Only the right edge can lie inside a cell: there are no glyphs for a left one.
  const std::size_t first = std::min(cells - 1, rounded(begin * static_cast<double>(cells)));
  std::size_t filled = rounded(end * static_cast<double>(cells * steps));
  filled = filled > first * steps ? filled - first * steps : 0;
  if (filled == 0 && end > begin) filled = 1;
  filled = std::min(filled, (cells - first) * steps);

  const std::size_t full = filled / steps;
  const std::size_t rest = filled % steps;
  const std::size_t taken = first + full + (rest == 0 ? 0 : 1);
  const std::string_view free = track ? (options.unicode ? "░" : ".") : " ";
  line.add(repeated(free, first), Color::dim);
  line.add(repeated(options.unicode ? "█" : "#", full), piece.color);
  line.add(eighths(rest), piece.color);
  line.add(repeated(free, cells - taken), Color::dim);
}

std::string spark(std::optional<double> share, const TextOptions& options) {
  if (!share) return "?";
  const double level = clamped(*share);
  if (level == 0) return options.unicode ? "·" : ".";
  if (!options.unicode) return std::to_string(std::min(9, static_cast<int>(level * 10)));
  constexpr std::array<std::string_view, 8> glyphs = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  return std::string(glyphs[std::min<std::size_t>(7, static_cast<std::size_t>(level * 8))]);
}

}  // namespace ttmem::views
