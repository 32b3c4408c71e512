// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "read/model/snapshot.hpp"
#include "show/tui/screen/screen.hpp"
#include "show/tui/screen/view_state.hpp"

namespace ttmem::tui {

// View 1: every device as large as the pane allows, then the processes. The forms, largest first:
// full boxes, compact boxes, one line each with a box of the selected device below.
void detail_view(Screen& screen, Pane pane, const model::Snapshot& snapshot,
                 const ViewState& state);

// Rows that detail_view() would like to have at this width, with nothing left out.
[[nodiscard]] int detail_height(const model::Snapshot& snapshot, int width);

// The index of the device that the state names, else 0.
[[nodiscard]] std::size_t selected_device(const model::Snapshot& snapshot, const ViewState& state);

}  // namespace ttmem::tui
