// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace ttmem::cli {

enum class WatchMode : std::uint8_t {
  redraw,  // each frame in the place of the one before, on the terminal's other screen
  append,  // each frame after the one before
};

// Writes frame() to standard output every `seconds`, and at once when the terminal changes its
// size, until SIGINT or SIGTERM, or until the reader has gone. Then the terminal is as before,
// below it the last frame. Returns an exit code.
[[nodiscard]] int watch(double seconds, WatchMode mode, const std::function<std::string()>& frame);

// At most `rows` lines of `frame`; the last one then says how many are missing.
[[nodiscard]] std::string fit_rows(const std::string& frame, std::size_t rows);

}  // namespace ttmem::cli
