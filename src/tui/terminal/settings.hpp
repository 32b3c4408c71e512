// SPDX-License-Identifier: Apache-2.0
//
// What `ttmem top` remembers, when asked to with F12: a few lines of TOML.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "tui/screen/view_state.hpp"

namespace ttmem::tui {

// $XDG_CONFIG_HOME/ttmem/top.toml, or below ~/.config. Empty when neither is known.
[[nodiscard]] std::string settings_path();

// View, refresh rate, window and sorting as TOML.
[[nodiscard]] std::string format_settings(const ViewState& state);

// Applies what `text` says to `state`. Lines that are not understood are left out and counted: a
// file of another version is no reason not to start.
[[nodiscard]] int apply_settings(std::string_view text, ViewState& state);

// Reads the file into `state`. No file is no failure.
void load_settings(const std::string& path, ViewState& state);

// Writes the file, with its folder. Fails with words when that is impossible.
[[nodiscard]] Result<void> save_settings(const std::string& path, const ViewState& state);

}  // namespace ttmem::tui
