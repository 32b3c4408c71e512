// SPDX-License-Identifier: Apache-2.0
//
// What all views draw with: boxes, bars, lists. Pure, safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "show/tui/screen/frame.hpp"
#include "show/tui/screen/screen.hpp"
#include "text/bar.hpp"
#include "text/table.hpp"

namespace ttmem::tui {

[[nodiscard]] Ink ink_of(text::Tone tone);

// A frame around the pane with a title in its upper edge, and one at the right when both fit.
// Returns the inside.
Pane box(Pane& pane, std::string_view title, std::string_view right, Style edge = {Ink::dim});

enum class BarForm : std::uint8_t {
  full,
  thin,  // does not touch the bar in the line below
  part,  // below the bar of what it is a part of, without a track
};

// A bar of `cells` cells: the pieces, then a track; a mark where the peak was.
void bar(Pane& pane, int x, int y, int cells, const std::vector<text::BarPiece>& pieces,
         std::optional<double> peak, BarForm form = BarForm::full);

// The parts of L1 by name, each behind its colour or, without colours, its pattern. Names are short
// when there is little room. Returns the column behind them.
struct LegendEntry {
  text::Tone part;
  std::string size;  // empty: none
};
int legend(Pane& pane, int x, int y, const std::vector<LegendEntry>& entries, Style style = {});

// What stands between two notes: a dot.
[[nodiscard]] std::string between(Display display);
// As many of the parts as fit into `room` columns, none of them cut, with dots between them.
[[nodiscard]] std::string dotted_to_fit(const std::vector<std::string>& parts, int room,
                                        Display display);

// Says at the right end of row y that a list goes on above and below; nothing when all is visible.
void more_sign(Pane& pane, int y, int first, int visible, int rows, std::string_view what);

// The rows of `table` under its header, each with a style of its own; the pane has room for them.
// Header columns become clicks that sort.
struct Rows {
  text::Table table;
  std::vector<Style> styles;
  std::vector<std::string> headers;  // as they stand in the table
};
void draw_rows(Screen& screen, Pane& pane, const Rows& rows, bool sortable);

// The first visible row of `rows`, so that `row` is among the `visible` ones.
[[nodiscard]] int scrolled_to(int row, int visible, int rows);

}  // namespace ttmem::tui
