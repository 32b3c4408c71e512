// SPDX-License-Identifier: Apache-2.0
//
// The settings that `ttmem top` saves with F12: a few lines of TOML.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "show/tui/screen/view_state.hpp"

namespace ttmem::tui {

// Returns $XDG_CONFIG_HOME/ttmem/top.toml, or ~/.config/ttmem/top.toml if that variable is not set.
// Returns an empty text if the home directory is unknown too.
[[nodiscard]] std::string settings_path();

// Applies the settings in `text` to `state`. Returns the number of invalid lines. Invalid lines are
// ignored, because another version may have written the file.
[[nodiscard]] int apply_settings(std::string_view text, ViewState& state);

// Applies the settings in the file to `state`. A missing file is not an error.
void load_settings(const std::string& path, ViewState& state);

// Writes the settings to the file, and creates its folder if necessary. The error names the file,
// the reason and the next step.
[[nodiscard]] Result<void> save_settings(const std::string& path, const ViewState& state);

}  // namespace ttmem::tui
