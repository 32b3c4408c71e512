// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "show/tui/screen/frame.hpp"
#include "show/tui/screen/theme.hpp"

namespace ttmem::tui {

// A frame as lines for a terminal, colours as SGR sequences; none at Depth::none. Blanks at the
// end of a line and empty lines at the end are left out.
[[nodiscard]] std::string frame_to_sgr(const Frame& frame, Depth depth);

}  // namespace ttmem::tui
