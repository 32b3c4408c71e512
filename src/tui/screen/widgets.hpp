// SPDX-License-Identifier: Apache-2.0
//
// What all views draw with: boxes, bars, lists. Pure, safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/snapshot.hpp"
#include "tui/screen/frame.hpp"
#include "tui/screen/screen.hpp"
#include "views/table.hpp"

namespace ttmem::tui {

// Green up to 60 %, yellow to 80 %, red above; dim when unknown.
[[nodiscard]] Ink ink_of_share(std::optional<double> share);

// A frame around the pane with a title in its upper edge, and one at the right when both fit.
// Returns the inside.
Pane box(Pane& pane, std::string_view title, std::string_view right, Style edge = {Ink::dim});

// A piece of a bar, in shares of the whole.
struct Piece {
  double share = 0;
  Ink ink = Ink::plain;
  int shade = 0;  // index into Glyphs::shades, for terminals without colour
};

// Thin bars do not touch those in the line below.
enum class Thickness : std::uint8_t { full, thin };

// A bar of `cells` cells: the pieces one after the other, then a track; a mark where the peak was.
// A piece that holds anything is never drawn empty, unless the bar is full.
void bar(Pane& pane, int x, int y, int cells, const std::vector<Piece>& pieces,
         std::optional<double> peak, Thickness thickness = Thickness::full);

// The parts of a device's Total L1, as pieces of its L1.
[[nodiscard]] std::vector<Piece> l1_pieces(const model::Device& device);

// As many of the parts as fit into `room` columns, none of them cut, joined by a dot.
[[nodiscard]] std::string joined_to_fit(const std::vector<std::string>& parts, int room, Look look);

// Says at the right end of row y that a list goes on above and below; nothing when all is visible.
void more_sign(Pane& pane, int y, int first, int visible, int rows, std::string_view what);

// The rows of `table` under its header, each with a style of its own; the pane has room for them.
// Header columns become clicks that sort.
struct Rows {
  views::Table table;
  std::vector<Style> styles;
  std::vector<std::string> headers;  // as they stand in the table
};
void draw_rows(Screen& screen, Pane& pane, const Rows& rows, bool sortable);

// The first visible row so that `row` is visible, scrolling as little as possible from `first`.
[[nodiscard]] int scrolled_to(int row, int visible, int rows);

}  // namespace ttmem::tui
