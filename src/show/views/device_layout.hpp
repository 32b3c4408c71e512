// SPDX-License-Identifier: Apache-2.0
//
// The form in which a device is shown depends on the width of the terminal. These functions return
// the positions of the columns. Positions and widths are numbers of display cells. Pure, safe from
// any thread.
#pragma once

#include <algorithm>
#include <cstddef>

namespace ttmem::views {

// Maximum number of devices that are shown in full. If there are more devices, all are shown in
// brief.
inline constexpr std::size_t kMaxInFull = 4;
inline constexpr int kNarrowestBox = 74;   // minimum width of each of two boxes side by side
inline constexpr int kNarrowestLine = 76;  // minimum width of each of two lines side by side
inline constexpr int kCompactBoxHeight = 5;

// The positions in a row with label, size, bar, share and notes.
struct RowLayout {
  // In a table: the column where the size starts. In a box: the column where the size ends.
  int size = 0;
  // The column where the bar starts, or in a row without a bar the column where the words start.
  int bar = 0;
  int cells = 0;  // width of the bar; 0: no bar
  [[nodiscard]] constexpr int share_end() const { return bar + cells + (cells > 0 ? 1 : 0) + 4; }
  [[nodiscard]] constexpr int notes() const { return share_end() + 2; }
};

// Returns the layout of a row of `ttmem`. At 80 columns the bar has 12 cells, which leaves room for
// the note "resident 999.9 MiB, logical 999.9 MiB". If sizes are `more` cells wider than usual, the
// bar is `more` cells shorter.
[[nodiscard]] constexpr RowLayout table_layout(int width, int more = 0) {
  return {14, 24 + more, width < 64 ? 0 : std::clamp(12 + (width - 80) / 2, 12, 60) - more};
}

// Returns the layout of a row inside a full box. The bar takes the width that the other columns and
// the notes leave.
[[nodiscard]] constexpr RowLayout box_layout(int width) {
  return {25, 27, std::max(0, width - (width < 100 ? 64 : 80))};
}

// Returns the layout of a row inside a compact box, which has five rows. A row of at least 70 cells
// has room for the note "peak 999.9 MiB". A narrower row has no room for notes.
[[nodiscard]] constexpr RowLayout compact_layout(int width) {
  return {15, 29, std::max(0, width - (width < 70 ? 35 : 51))};
}

// The positions in the line of a device.
struct LineLayout {
  RowLayout dram, l1;  // their sizes and notes are not shown in a line
  int cb_end = 0;      // 0 if there is no room for circular buffers
  int headroom_end = 0;
};

[[nodiscard]] constexpr LineLayout line_layout(int width) {
  const RowLayout dram{0, 12, std::max(0, (width - 46) / 2)};
  const RowLayout l1{0, dram.notes(), dram.cells};
  const int cb_end = l1.share_end() + 11;
  constexpr int kHeadroomCells = 11;
  if (cb_end + kHeadroomCells > width) return {dram, l1, 0, width};
  return {dram, l1, cb_end, cb_end + kHeadroomCells};
}

}  // namespace ttmem::views
