// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tui/screen/screen.hpp"

namespace ttmem::tui {

// What the keys do and what the figures mean.
void help_view(Screen& screen, Pane pane);

}  // namespace ttmem::tui
