// SPDX-License-Identifier: Apache-2.0
//
// Which form a device gets at a terminal's width, and where the columns of that form are. All
// figures are display cells. Pure, safe from any thread.
#pragma once

#include <algorithm>
#include <cstddef>

namespace ttmem::views {

inline constexpr std::size_t kMaxInFull = 4;  // devices in a text; more are shown in brief
inline constexpr int kNarrowestBox = 74;      // boxes stand side by side when both are this wide
inline constexpr int kNarrowestLine = 76;     // and so do lines
inline constexpr int kCompactBoxHeight = 5;

// A row with label, size, bar, share and notes.
struct RowLayout {
  int size = 0;   // where sizes begin in the table, and end in a box
  int bar = 0;    // where it begins, and where words begin in a row without a bar
  int cells = 0;  // of the bar; 0: none
  [[nodiscard]] constexpr int share_end() const { return bar + cells + (cells > 0 ? 1 : 0) + 4; }
  [[nodiscard]] constexpr int notes() const { return share_end() + 2; }
};

// A row of `ttmem`. At 80 columns the bar has 12 cells, which leaves room for "resident 999.9 MiB,
// logical 999.9 MiB". Sizes that need `more` cells than usual take them from the bar.
[[nodiscard]] constexpr RowLayout table_layout(int width, int more = 0) {
  return {14, 24 + more, width < 64 ? 0 : std::clamp(12 + (width - 80) / 2, 12, 60) - more};
}

// A row inside a box: the bar is as wide as the notes allow.
[[nodiscard]] constexpr RowLayout box_layout(int width) {
  return {25, 27, std::max(0, width - (width < 100 ? 64 : 80))};
}

// A row inside a box of five rows. Notes are "peak 999.9 MiB", or there is no room for them.
[[nodiscard]] constexpr RowLayout compact_layout(int width) {
  return {15, 29, std::max(0, width - (width < 70 ? 35 : 51))};
}

// A device in one line.
struct LineLayout {
  RowLayout dram, l1;  // without size and notes
  int cb_end = 0;      // 0: no room for it
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
