// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "show/tui/screen/frame.hpp"
#include "show/tui/screen/theme.hpp"

namespace ttmem::tui {

// Returns a frame as lines for a terminal, with SGR sequences for colours. Depth::none adds no
// sequences. Leaves out trailing blanks and the empty lines at the end.
[[nodiscard]] std::string frame_to_sgr(const Frame& frame, Depth depth);

}  // namespace ttmem::tui
