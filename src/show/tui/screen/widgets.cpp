// SPDX-License-Identifier: Apache-2.0
#include "show/tui/screen/widgets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "show/tui/screen/glyphs.hpp"
#include "show/views/device_rows.hpp"
#include "text/text.hpp"

namespace ttmem::tui {
namespace {

int cells_of(std::string_view text) { return static_cast<int>(text::display_width(text)); }

std::string_view shade_of(text::Tone part, Display display) {
  return glyphs_of(display)
      .shades[static_cast<std::size_t>(part) - static_cast<std::size_t>(text::Tone::buffers)];
}

}  // namespace

Ink ink_of(text::Tone tone) {
  using enum Ink;
  constexpr std::array<Ink, 8> inks = {dim, good, warn, bad, buffers, small, cbs, kernels};
  return inks[static_cast<std::size_t>(tone)];
}

Pane box(Pane& pane, std::string_view title, std::string_view right, Style edge) {
  const Glyphs& g = glyphs_of(pane.display());
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

void bar(Pane& pane, int x, int y, int cells, const std::vector<text::BarPiece>& pieces,
         std::optional<double> peak, BarForm form) {
  if (cells <= 0) return;
  const Display display = pane.display();
  const Glyphs& g = glyphs_of(display);
  const bool thin = form == BarForm::thin;
  const bool part = form == BarForm::part;
  // Number of steps per cell
  const std::size_t steps = !display.unicode || part ? 1 : thin ? 2 : 8;
  const bool shaded = !display.color && (pieces.size() > 1 || part);
  const auto glyph_of = [&](const text::BarCell& cell) {
    if (part && cell.filled == 0 && display.unicode) return text::eighths(0);
    if (shaded) return shade_of(pieces[cell.piece].tone, display);
    if (cell.filled == steps || !display.unicode) return thin ? g.thin : part ? g.part : g.full;
    return thin ? g.thin_half : text::eighths(cell.filled);
  };
  int full = 0;
  for (const text::BarCell& cell : bar_cells(pieces, static_cast<std::size_t>(cells), steps)) {
    if (cell.piece != text::BarCell::kFree) {
      pane.put(x, y, glyph_of(cell), {ink_of(pieces[cell.piece].tone)});
      full += cell.filled == steps || steps == 1 ? 1 : 0;
    } else if (!part) {
      pane.put(x, y, thin ? g.thin_track : g.track, {Ink::track});
    }
    ++x;
  }
  // Draws the mark of the peak only if the peak is above the filled part.
  const int at = static_cast<int>(std::clamp(peak.value_or(0), 0.0, 1.0) * cells);
  if (at <= full) return;
  pane.put(x - cells + std::min(at, cells - 1), y, g.peak,
           {.ink = ink_of(text::tone_of_share(peak)), .bold = true});
}

int legend(Pane& pane, int x, int y, const std::vector<LegendEntry>& entries, Style style) {
  const Glyphs& g = glyphs_of(pane.display());
  const auto text_of = [](const LegendEntry& entry, bool brief) {
    return fmt::format("{}{}{}", views::name_of_part(entry.part, brief),
                       entry.size.empty() ? "" : " ", entry.size);
  };
  int end = x;
  for (const LegendEntry& entry : entries) end += 2 + cells_of(text_of(entry, false)) + 2;
  const bool brief = end - 2 >= pane.width();
  for (const LegendEntry& entry : entries) {
    const std::string text = text_of(entry, brief);
    if (x + 2 + cells_of(text) > pane.width()) return pane.put(x, y, g.ellipsis, {Ink::dim});
    pane.put(x, y, pane.display().color ? g.full : shade_of(entry.part, pane.display()),
             {ink_of(entry.part)});
    x = pane.put(x + 2, y, text, style) + 2;
  }
  return x;
}

std::string between(Display display) { return fmt::format(" {} ", glyphs_of(display).dot); }

std::string dotted_to_fit(const std::vector<std::string>& parts, int room, Display display) {
  return text::joined_to_fit(parts, static_cast<std::size_t>(std::max(room, 0)), between(display));
}

void more_sign(Pane& pane, int y, int first, int visible, int rows, std::string_view what) {
  if (visible >= rows) return;
  const Glyphs& g = glyphs_of(pane.display());
  const std::string arrows =
      fmt::format("{}{}", first > 0 ? g.up : " ", first + visible < rows ? g.down : " ");
  const std::string text = fmt::format(
      " {} {}-{} of {} {} ", arrows, visible > 0 ? first + 1 : first, first + visible, rows, what);
  pane.put_right(pane.width(), y, cells_of(text) <= pane.width() ? text : arrows, {Ink::title});
}

void draw_rows(Screen& screen, Pane& pane, const Rows& rows, bool sortable) {
  if (pane.width() <= 0 || pane.height() <= 0) return;
  const text::TextOptions options{.width = static_cast<std::size_t>(pane.width()),
                                  .color = false,
                                  .unicode = pane.display().unicode};
  const std::string text = rows.table.render(0, options);
  std::size_t begin = 0;
  for (int y = 0; y < pane.height() && begin < text.size(); ++y) {
    const std::size_t end = text.find('\n', begin);
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    const Style style = y == 0 ? Style{.ink = Ink::dim, .bold = true}
                               : rows.styles[static_cast<std::size_t>(y) - 1];
    if (style.reverse) pane.repeat(0, y, pane.width(), " ", style);
    pane.put(0, y, line, style);
    if (y != 0 || !sortable) continue;
    for (std::size_t column = 0, from = 0; column < rows.headers.size(); ++column) {
      const std::size_t at = line.find(rows.headers[column], from);
      // Skips the column if the table had no room for it.
      if (at == std::string_view::npos) continue;
      from = at + rows.headers[column].size();
      const int x = cells_of(line.substr(0, at));
      screen.click_at({pane.rect().x + x, pane.rect().y, cells_of(rows.headers[column]), 1},
                      Click::What::column, static_cast<std::uint32_t>(column));
    }
  }
}

int scrolled_to(int row, int visible, int rows) {
  if (visible <= 0) return 0;
  // Keeps the row in the middle of the visible rows if the list is long. The result depends only on
  // the arguments, so the list does not jump between frames.
  return std::clamp(row - visible / 2, 0, std::max(0, rows - visible));
}

}  // namespace ttmem::tui
