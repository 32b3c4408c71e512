// SPDX-License-Identifier: Apache-2.0
//
// The views 2 to 4, the line of the player and the help. Each function draws into the given pane.
// View 1 is in detail_view.hpp.
#pragma once

#include "read/model/snapshot.hpp"
#include "show/tui/screen/chart_history.hpp"
#include "show/tui/screen/screen.hpp"
#include "show/tui/screen/view_state.hpp"

namespace ttmem::tui {

// Draws view 2: DRAM, L1 and the kinds of L1 of one device over the last 30 to 300 seconds. While a
// recording is played, the charts show the whole recording, and the times in `history` count from
// its begin. If not all charts fit, the last charts are left out, and a line says how many are
// shown.
void chart_view(Screen& screen, Pane pane, const model::Snapshot& snapshot, const ViewState& state,
                const ChartHistory& history);

// Draws view 3: the cores of one device as a grid of tiles, and the map of the core under the
// cursor. The colour of a tile shows how much of the core's L1 is taken by circular buffers and L1
// buffers. The map is beside the grid if there is room, otherwise below the grid. If the grid does
// not fit, the view shows the part of the grid around the cursor, and a line says so.
void core_view(Screen& screen, Pane pane, const model::Snapshot& snapshot, const ViewState& state);

// Draws view 4: the processes, sorted and filtered. If the user opened a process, draws the live
// allocations of that process instead.
void process_view(Screen& screen, Pane pane, const model::Snapshot& snapshot,
                  const ViewState& state);

// Draws the line of the player: the current time, the speed, the nearest mark and the number of
// lost events.
void player_line(Screen& screen, Pane pane, const ViewState& state);

// Draws the help: the meaning of keys and figures. If `is_replay`, the keys of the player come
// first, and keys that only live figures have are left out.
void help_view(Screen& screen, Pane pane, bool is_replay);

}  // namespace ttmem::tui
