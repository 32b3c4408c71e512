// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "read/model/snapshot.hpp"
#include "show/tui/screen/core_grid.hpp"
#include "show/tui/screen/screen.hpp"
#include "show/tui/screen/view_state.hpp"

namespace ttmem::tui {

// The L1 of one core: its addresses as a bar (upwards where the pane is high enough, else lying
// down) and as a list with sizes and owners, the highest address first. `device` is an index into
// the snapshot; the cursor lies on its grid.
void core_panel(Screen& screen, Pane pane, const model::Snapshot& snapshot, std::size_t device,
                CoreCursor cursor, const ViewState& state);

// "Core (3,4) 47%".
[[nodiscard]] std::string core_title(const model::Device& device, CoreCursor cursor);

}  // namespace ttmem::tui
