// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/snapshot.hpp"
#include "tui/screen/screen.hpp"
#include "tui/screen/view_state.hpp"

namespace ttmem::tui {

// View 4: the processes, sorted and filtered; below an opened one its live allocations.
void process_view(Screen& screen, Pane pane, const model::Snapshot& snapshot,
                  const ViewState& state);

}  // namespace ttmem::tui
