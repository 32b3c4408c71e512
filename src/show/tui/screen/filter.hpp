// SPDX-License-Identifier: Apache-2.0
//
// What `/` leaves of a list. Pure, safe from any thread.
#pragma once

#include <string_view>

#include "read/model/snapshot.hpp"
#include "show/tui/screen/view_state.hpp"

namespace ttmem::tui {

// True if `text` holds `filter`, in any case. An empty filter is in every text.
[[nodiscard]] bool contains(std::string_view text, std::string_view filter);

// In views 1 and 2 the filter is about devices.
[[nodiscard]] bool filters_devices(const ViewState& state);

// The devices whose number, board, architecture or uid holds the filter, and nothing else.
[[nodiscard]] model::Snapshot devices_matching(const model::Snapshot& snapshot,
                                               std::string_view filter);

}  // namespace ttmem::tui
