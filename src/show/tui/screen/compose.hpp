// SPDX-License-Identifier: Apache-2.0
//
// The whole screen as a value: a pure function of the snapshot, the choices of the user and the
// size of the terminal. Safe from any thread.
#pragma once

#include <cstdint>

#include "read/model/snapshot.hpp"
#include "show/tui/screen/chart_history.hpp"
#include "show/tui/screen/screen.hpp"
#include "show/tui/screen/view_state.hpp"

namespace ttmem::tui {

// The properties that stay the same while the program runs.
struct Setup {
  Display display{};
  std::int64_t utc_offset_seconds = 0;
};

// The smallest size that shows a view. A smaller terminal shows only a message.
inline constexpr Size kSmallest{40, 10};

// Returns the screen: tabs, the view, a warning if there is one, and the keys.
[[nodiscard]] Screen compose(const model::Snapshot& snapshot, const ViewState& state,
                             const ChartHistory& history, Size size, const Setup& setup);

// Returns view 1 alone, in the height that it needs. For --once and for pipes.
[[nodiscard]] Frame compose_once(const model::Snapshot& snapshot, int width, const Setup& setup);

}  // namespace ttmem::tui
