// SPDX-License-Identifier: Apache-2.0
//
// What the tabs show, each drawn into the pane it gets; view 1 is in detail_view.hpp.
#pragma once

#include "read/model/snapshot.hpp"
#include "show/tui/screen/chart_history.hpp"
#include "show/tui/screen/screen.hpp"
#include "show/tui/screen/view_state.hpp"

namespace ttmem::tui {

// View 2: DRAM, L1 and the kinds of L1 of one device over the last 30 to 300 seconds; of a
// recording that is played, over all of it, and the times of `history` are those of the recording.
// Charts that do not fit are left out, and a line says so.
void chart_view(Screen& screen, Pane pane, const model::Snapshot& snapshot, const ViewState& state,
                const ChartHistory& history);

// View 3: the cores of one device as a grid of tiles, coloured by how much of their L1 circular
// buffers and L1 buffers take, and the map of the core under the cursor: beside the grid where
// there is room, else below it. Of a grid that does not fit, the part around the cursor is shown,
// and a line says so.
void core_view(Screen& screen, Pane pane, const model::Snapshot& snapshot, const ViewState& state);

// View 4: the processes, sorted and filtered; below an opened one its live allocations.
void process_view(Screen& screen, Pane pane, const model::Snapshot& snapshot,
                  const ViewState& state);

// One line for a recording that is played: where it is, how fast it goes, the nearest mark, and
// what was lost.
void player_line(Screen& screen, Pane pane, const ViewState& state);

// What the keys do and what the figures mean; first those of a recording, when one is played.
void help_view(Screen& screen, Pane pane, bool is_replay);

}  // namespace ttmem::tui
