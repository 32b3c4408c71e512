// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/snapshot.hpp"
#include "tui/screen/screen.hpp"
#include "tui/screen/view_state.hpp"

namespace ttmem::tui {

// View 3: the cores of one device as a grid of tiles, coloured by how much of their L1 circular
// buffers and L1 buffers take, and the map of the core under the cursor: beside the grid where
// there is room, else below it. Of a grid that does not fit, the part around the cursor is shown,
// and a line says so.
void core_view(Screen& screen, Pane pane, const model::Snapshot& snapshot, const ViewState& state);

}  // namespace ttmem::tui
