// SPDX-License-Identifier: Apache-2.0
//
// Draws the elements that several views use: boxes, bars, lists. Pure, safe from any thread.
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

// Draws a frame around the pane, with `title` at the left end of the upper edge. Also draws `right`
// at the right end if both texts fit. Returns the pane inside the frame.
Pane box(Pane& pane, std::string_view title, std::string_view right, Style edge = {Ink::dim});

enum class BarForm : std::uint8_t {
  full,
  thin,  // lower than a line, so that bars in adjacent lines do not touch
  // The bar of a part, drawn below the bar of the whole. Its free cells are blank.
  part,
};

// Draws a bar of `cells` cells: the pieces, the free cells, and a mark at the peak if the peak is
// above the pieces.
void bar(Pane& pane, int x, int y, int cells, const std::vector<text::BarPiece>& pieces,
         std::optional<double> peak, BarForm form = BarForm::full);

// A part of L1 in a legend. legend() draws the name of each part after a sample of its colour, or
// of its pattern on a terminal without colours. The names are short if the full names do not fit.
// Returns the column after the last name.
struct LegendEntry {
  text::Tone part;
  std::string size;  // empty: the legend shows no size
};
int legend(Pane& pane, int x, int y, const std::vector<LegendEntry>& entries, Style style = {});

// Returns the separator between two notes: a dot with a blank on each side.
[[nodiscard]] std::string between(Display display);
// Joins as many parts as fit into `room` columns, with dots between the parts. Never cuts a part.
[[nodiscard]] std::string dotted_to_fit(const std::vector<std::string>& parts, int room,
                                        Display display);

// Draws the range of visible rows of a list at the right end of row `y`, with arrows if the list
// continues above or below. Draws nothing if all rows are visible.
void more_sign(Pane& pane, int y, int first, int visible, int rows, std::string_view what);

// A table with a style for each row. draw_rows() draws the header and the rows; the pane must have
// room for all of them. If `sortable`, a click on a header sorts the list by that column.
struct Rows {
  text::Table table;
  std::vector<Style> styles;
  std::vector<std::string> headers;  // headers as the table shows them
};
void draw_rows(Screen& screen, Pane& pane, const Rows& rows, bool sortable);

// Returns the index of the first row to show, chosen so that the row `row` is visible. The list has
// `rows` rows, of which `visible` rows fit.
[[nodiscard]] int scrolled_to(int row, int visible, int rows);

}  // namespace ttmem::tui
