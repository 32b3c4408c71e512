// SPDX-License-Identifier: Apache-2.0
//
// The filter that the key `/` starts. Pure, safe from any thread.
#pragma once

#include <string_view>

#include "read/model/snapshot.hpp"
#include "show/tui/screen/view_state.hpp"

namespace ttmem::tui {

// Returns true if `text` contains `filter`, ignoring case, or if `filter` is empty.
[[nodiscard]] bool contains(std::string_view text, std::string_view filter);

// Returns true in views 1 and 2, where the filter selects devices.
[[nodiscard]] bool filters_devices(const ViewState& state);

// Returns the snapshot without the devices that do not match. A device matches if its number,
// board, architecture or uid contains the filter.
[[nodiscard]] model::Snapshot devices_matching(const model::Snapshot& snapshot,
                                               std::string_view filter);

}  // namespace ttmem::tui
