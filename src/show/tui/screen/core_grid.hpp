// SPDX-License-Identifier: Apache-2.0
//
// The cores of a device as tiles. Pure, safe from any thread.
#pragma once

#include "read/model/snapshot.hpp"
#include "show/tui/screen/screen.hpp"

namespace ttmem::tui {

// How large the tiles are and how many of them are visible.
struct GridPlan {
  int tile_width = 0;   // with the blank column behind it
  int tile_height = 0;  // 1: percent; 2: and where it lies; 3: and the headroom
  int gap = 0;          // blank rows below a tile
  int columns = 0;
  int rows = 0;

  // Columns and rows that the grid takes, axes and caption included.
  [[nodiscard]] int width() const { return kAxis + columns * tile_width; }
  [[nodiscard]] int height() const { return 2 + rows * (tile_height + gap); }

  static constexpr int kAxis = 4;
};

// The largest tiles with which the whole grid fits, else small tiles and a part of it.
[[nodiscard]] GridPlan grid_plan(const model::Device& device, int width, int height);

struct CoreCursor {
  int x = 0;
  int y = 0;
};

void core_grid(Screen& screen, Pane pane, const model::Device& device, const GridPlan& plan,
               CoreCursor cursor);

}  // namespace ttmem::tui
