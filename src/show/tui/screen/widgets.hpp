// SPDX-License-Identifier: Apache-2.0
//
// The drawing functions of all views: boxes, bars, lists. Pure, safe from any thread.
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

// Draws a frame around the pane with a title in its upper edge, and `right` at the right end if
// both fit. Returns the inside of the frame.
Pane box(Pane& pane, std::string_view title, std::string_view right, Style edge = {Ink::dim});

enum class BarForm : std::uint8_t {
  full,
  thin,  // does not touch the bar in the next line
  part,  // bar of a part, below the bar of the whole, without a track
};

// Draws a bar of `cells` cells: the pieces, the free track, and a mark at the peak.
void bar(Pane& pane, int x, int y, int cells, const std::vector<text::BarPiece>& pieces,
         std::optional<double> peak, BarForm form = BarForm::full);

// Draws the names of the parts of L1, each behind its colour or, on a terminal without colours, its
// pattern. In little room the names are short. Returns the column behind the names.
struct LegendEntry {
  text::Tone part;
  std::string size;  // empty: no size
};
int legend(Pane& pane, int x, int y, const std::vector<LegendEntry>& entries, Style style = {});

// Returns the separator between two notes: a dot.
[[nodiscard]] std::string between(Display display);
// Joins as many parts as fit into `room` columns with dots, without cutting a part.
[[nodiscard]] std::string dotted_to_fit(const std::vector<std::string>& parts, int room,
                                        Display display);

// Draws a sign at the right end of row y that a list continues above or below. Draws nothing if all
// rows are visible.
void more_sign(Pane& pane, int y, int first, int visible, int rows, std::string_view what);

// A table with a style per row. draw_rows() draws the header and the rows; the pane must have room
// for the header and all rows. If `sortable`, a click on a header sorts by its column.
struct Rows {
  text::Table table;
  std::vector<Style> styles;
  std::vector<std::string> headers;  // headers as the table shows them
};
void draw_rows(Screen& screen, Pane& pane, const Rows& rows, bool sortable);

// Returns the first visible row, so that `row` is one of the `visible` rows.
[[nodiscard]] int scrolled_to(int row, int visible, int rows);

}  // namespace ttmem::tui
