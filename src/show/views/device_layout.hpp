// SPDX-License-Identifier: Apache-2.0
//
// The form in which a device is shown at the width of the terminal, and the places of the columns.
// Places and widths are display cells. Pure, safe from any thread.
#pragma once

#include <algorithm>
#include <cstddef>

namespace ttmem::views {

// Maximum number of devices shown in full; more devices are shown in brief.
inline constexpr std::size_t kMaxInFull = 4;
inline constexpr int kNarrowestBox = 74;   // width at which two boxes fit side by side
inline constexpr int kNarrowestLine = 76;  // width at which two lines fit side by side
inline constexpr int kCompactBoxHeight = 5;

// A row with label, size, bar, share and notes.
struct RowLayout {
  int size = 0;   // place of the size: its begin in a table, its end in a box
  int bar = 0;    // begin of the bar, or of the words in a row without a bar
  int cells = 0;  // width of the bar; 0: no bar
  [[nodiscard]] constexpr int share_end() const { return bar + cells + (cells > 0 ? 1 : 0) + 4; }
  [[nodiscard]] constexpr int notes() const { return share_end() + 2; }
};

// Returns the layout of a row of `ttmem`. At 80 columns the bar has 12 cells, which leaves room for
// "resident 999.9 MiB, logical 999.9 MiB". Sizes that are `more` cells wider than usual shorten the
// bar by `more` cells.
[[nodiscard]] constexpr RowLayout table_layout(int width, int more = 0) {
  return {14, 24 + more, width < 64 ? 0 : std::clamp(12 + (width - 80) / 2, 12, 60) - more};
}

// Returns the layout of a row inside a box. The bar takes the width that the notes leave.
[[nodiscard]] constexpr RowLayout box_layout(int width) {
  return {25, 27, std::max(0, width - (width < 100 ? 64 : 80))};
}

// Returns the layout of a row inside a box of five rows. A wide row has room for the note "peak
// 999.9 MiB", a narrow row has no notes.
[[nodiscard]] constexpr RowLayout compact_layout(int width) {
  return {15, 29, std::max(0, width - (width < 70 ? 35 : 51))};
}

// The layout of a device in one line.
struct LineLayout {
  RowLayout dram, l1;  // without size and notes
  int cb_end = 0;      // 0: no room for circular buffers
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
