// SPDX-License-Identifier: Apache-2.0
//
// The settings that `ttmem top` saves with F12: a few lines of TOML.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "show/tui/screen/view_state.hpp"

namespace ttmem::tui {

// Returns $XDG_CONFIG_HOME/ttmem/top.toml, or ~/.config/ttmem/top.toml. Returns an empty text if
// neither folder is known.
[[nodiscard]] std::string settings_path();

// Applies `text` to `state`. Returns the number of invalid lines, which are ignored: the file of
// another version is not an error.
[[nodiscard]] int apply_settings(std::string_view text, ViewState& state);

// Reads the file into `state`. A missing file is not an error.
void load_settings(const std::string& path, ViewState& state);

// Writes the file and creates its folder. The error names the file, the reason and the next step.
[[nodiscard]] Result<void> save_settings(const std::string& path, const ViewState& state);

}  // namespace ttmem::tui
