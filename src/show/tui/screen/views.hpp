// SPDX-License-Identifier: Apache-2.0
//
// The views of the tabs. Each function draws its view into the given pane. View 1 is in
// detail_view.hpp.
#pragma once

#include "read/model/snapshot.hpp"
#include "show/tui/screen/chart_history.hpp"
#include "show/tui/screen/screen.hpp"
#include "show/tui/screen/view_state.hpp"

namespace ttmem::tui {

// Draws view 2: DRAM, L1 and the kinds of L1 of one device over the last 30 to 300 seconds. While a
// recording is played, the charts show the whole recording, and `history` has the times of the
// recording. Charts that do not fit are left out, and a line says so.
void chart_view(Screen& screen, Pane pane, const model::Snapshot& snapshot, const ViewState& state,
                const ChartHistory& history);

// Draws view 3: the cores of one device as a grid of tiles, and the map of the core under the
// cursor. The colour of a tile shows how much of the L1 is taken by circular buffers and L1
// buffers. The map is beside the grid if there is room, else below. If the grid does not fit, the
// view shows the part around the cursor, and a line says so.
void core_view(Screen& screen, Pane pane, const model::Snapshot& snapshot, const ViewState& state);

// Draws view 4: the sorted and filtered processes, and below the opened process the live
// allocations of that process.
void process_view(Screen& screen, Pane pane, const model::Snapshot& snapshot,
                  const ViewState& state);

// Draws one line for a played recording: the current time, the speed, the nearest mark and the lost
// events.
void player_line(Screen& screen, Pane pane, const ViewState& state);

// Draws the meaning of keys and figures. In a replay the keys of the player come first.
void help_view(Screen& screen, Pane pane, bool is_replay);

}  // namespace ttmem::tui
