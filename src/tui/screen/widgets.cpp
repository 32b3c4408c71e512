// SPDX-License-Identifier: Apache-2.0
#include "tui/screen/widgets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tui/screen/glyphs.hpp"
#include "views/format.hpp"
#include "views/text.hpp"

namespace ttmem::tui {
namespace {

int cells_of(std::string_view text) { return static_cast<int>(views::display_width(text)); }

double clamped(double share) { return std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0; }

// Where each piece of a bar ends, in steps. Only the last one may end inside a cell: there is one
// colour in a cell.
std::vector<int> ends_of(const std::vector<Piece>& pieces, int cells, int steps) {
  std::size_t last = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) last = pieces[i].share > 0 ? i : last;
  std::vector<int> ends;
  double sum = 0;
  int begin = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    sum += std::max(pieces[i].share, 0.0);
    int end = static_cast<int>(std::lround(clamped(sum) * cells * steps));
    if (i < last) end = (end + steps / 2) / steps * steps;
    if (pieces[i].share <= 0) {
      end = begin;
    } else if (end <= begin) {
      end = std::min(cells * steps, begin + (i < last ? steps : 1));
    }
    ends.push_back(begin = end);
  }
  return ends;
}

}  // namespace

Ink ink_of_share(std::optional<double> share) {
  if (!share) return Ink::dim;
  if (*share <= 0.6) return Ink::good;
  return *share <= 0.8 ? Ink::warn : Ink::bad;
}

Pane box(Pane& pane, std::string_view title, std::string_view right, Style edge) {
  const Glyphs& g = glyphs_of(pane.look());
  const int w = pane.width();
  const int h = pane.height();
  pane.repeat(1, 0, w - 2, g.horizontal, edge);
  pane.repeat(1, h - 1, w - 2, g.horizontal, edge);
  for (int y = 1; y + 1 < h; ++y) {
    pane.put(0, y, g.vertical, edge);
    pane.put(w - 1, y, g.vertical, edge);
  }
  pane.put(0, 0, g.top_left, edge);
  pane.put(w - 1, 0, g.top_right, edge);
  pane.put(0, h - 1, g.bottom_left, edge);
  pane.put(w - 1, h - 1, g.bottom_right, edge);
  int end = 2;
  if (!title.empty()) {
    end = pane.put(2, 0, fmt::format(" {} ", title), {.ink = Ink::title, .bold = true}, w - 4);
  }
  if (!right.empty() && end + cells_of(right) + 4 < w) {
    pane.put_right(w - 2, 0, fmt::format(" {} ", right), {Ink::dim});
  }
  return pane.part({1, 1, w - 2, h - 2});
}

void bar(Pane& pane, int x, int y, int cells, const std::vector<Piece>& pieces,
         std::optional<double> peak, Thickness thickness) {
  if (cells <= 0) return;
  const Glyphs& g = glyphs_of(pane.look());
  const bool thin = thickness == Thickness::thin;
  const int steps = !pane.look().unicode ? 1 : thin ? 2 : 8;  // per cell
  const bool shaded = !pane.look().color && pieces.size() > 1;
  pane.repeat(x, y, cells, thin ? g.thin_track : g.track, {Ink::track});
  const std::vector<int> ends = ends_of(pieces, cells, steps);
  int begin = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string_view full = shaded ? g.shades[static_cast<std::size_t>(pieces[i].shade)]
                                  : thin ? g.thin
                                         : g.full;
    pane.repeat(x + begin / steps, y, ends[i] / steps - begin / steps, full, {pieces[i].ink});
    if (const int rest = ends[i] % steps; rest != 0) {
      pane.put(x + ends[i] / steps, y,
               shaded ? full
               : thin ? g.thin_half
                      : g.eighths_right[static_cast<std::size_t>(rest)],
               {pieces[i].ink});
    }
    begin = ends[i];
  }
  // Where the bar itself reaches, it says all.
  const int at = peak ? static_cast<int>(clamped(*peak) * cells) : 0;
  if (at * steps <= begin) return;
  pane.put(x + std::min(at, cells - 1), y, g.peak, {.ink = ink_of_share(peak), .bold = true});
}

std::vector<Piece> l1_pieces(const model::Device& device) {
  const auto share = [&](model::Bytes bytes) {
    return views::share_of(bytes, device.l1_capacity_bytes).value_or(0);
  };
  return {{share(device.used(Kind::l1)), Ink::buffers, 0},
          {share(device.used(Kind::l1_small)), Ink::small, 1},
          {share(device.used(Kind::cb)), Ink::cbs, 2},
          {share(device.used(Kind::kernel)), Ink::kernels, 3}};
}

std::string joined_to_fit(const std::vector<std::string>& parts, int room, Look look) {
  const std::string between = fmt::format(" {} ", glyphs_of(look).dot);
  std::string text;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    const std::size_t before = text.size();
    if (!text.empty()) text += between;
    text += part;
    if (cells_of(text) > room) {
      text.resize(before);
      break;
    }
  }
  return text;
}

void more_sign(Pane& pane, int y, int first, int visible, int rows, std::string_view what) {
  if (visible >= rows) return;
  const Glyphs& g = glyphs_of(pane.look());
  const std::string above = first > 0 ? std::string(g.up) : std::string(" ");
  const std::string below = first + visible < rows ? std::string(g.down) : std::string(" ");
  const std::string text =
      fmt::format(" {}{} {}-{} of {} {} ", above, below, visible > 0 ? first + 1 : first,
                  first + visible, rows, what);
  if (cells_of(text) <= pane.width()) {
    pane.put_right(pane.width(), y, text, {Ink::title});
  } else {
    pane.put_right(pane.width(), y, fmt::format("{}{}", above, below), {Ink::title});
  }
}

void draw_rows(Screen& screen, Pane& pane, const Rows& rows, bool sortable) {
  if (pane.width() <= 0 || pane.height() <= 0) return;
  const views::TextOptions options{.width = static_cast<std::size_t>(pane.width()),
                                   .color = false,
                                   .unicode = pane.look().unicode};
  const std::string text = rows.table.render(0, options);
  std::size_t begin = 0;
  for (int y = 0; y < pane.height() && begin < text.size(); ++y) {
    const std::size_t end = text.find('\n', begin);
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    const Style style = y == 0 ? Style{.ink = Ink::dim, .bold = true}
                               : rows.styles[static_cast<std::size_t>(y) - 1];
    pane.put(0, y, line, style);
    if (style.reverse) pane.restyle(0, y, pane.width(), style);
    if (y != 0 || !sortable) continue;
    for (std::size_t column = 0, from = 0; column < rows.headers.size(); ++column) {
      const std::size_t at = line.find(rows.headers[column], from);
      if (at == std::string_view::npos) continue;  // dropped, for want of room
      from = at + rows.headers[column].size();
      const int x = cells_of(line.substr(0, at));
      screen.click_at({pane.rect().x + x, pane.rect().y, cells_of(rows.headers[column]), 1},
                      Click::What::column, static_cast<std::uint32_t>(column));
    }
  }
}

int scrolled_to(int row, int visible, int rows) {
  if (visible <= 0) return 0;
  // The row stays in the middle where the list allows it: no state is needed, and nothing jumps.
  return std::clamp(row - visible / 2, 0, std::max(0, rows - visible));
}

}  // namespace ttmem::tui
