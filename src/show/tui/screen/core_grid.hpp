// SPDX-License-Identifier: Apache-2.0
//
// The cores of a device as tiles. Pure, safe from any thread.
#pragma once

#include "read/model/snapshot.hpp"
#include "show/tui/screen/screen.hpp"

namespace ttmem::tui {

// The size of the tiles, and the number of visible tiles.
struct GridPlan {
  int tile_width = 0;   // including the blank column behind the tile
  int tile_height = 0;  // 1: percent; 2: also the row of mini_map(); 3: also the headroom
  int gap = 0;          // blank rows below a tile
  int columns = 0;
  int rows = 0;

  // Returns the columns or rows that the grid takes, including axes and caption.
  [[nodiscard]] int width() const { return kAxis + columns * tile_width; }
  [[nodiscard]] int height() const { return 2 + rows * (tile_height + gap); }

  static constexpr int kAxis = 4;
};

// Returns the largest tiles with which the whole grid fits. If no size fits, returns small tiles
// for a part of the grid.
[[nodiscard]] GridPlan grid_plan(const model::Device& device, int width, int height);

struct CoreCursor {
  int x = 0;
  int y = 0;
};

void core_grid(Screen& screen, Pane pane, const model::Device& device, const GridPlan& plan,
               CoreCursor cursor);

}  // namespace ttmem::tui
