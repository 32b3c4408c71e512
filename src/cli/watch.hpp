// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace ttmem::cli {

enum class WatchMode : std::uint8_t {
  // Each frame in the place of the one before, on the terminal's other screen, whose lines it must
  // not exceed.
  redraw,
  append,  // each frame after the one before
};

// Writes frame() to standard output every `seconds`, and at once when the terminal changes its
// size, until SIGINT or SIGTERM, or until the reader has gone. Then the terminal is as before,
// below it the last frame. Returns an exit code.
[[nodiscard]] int watch(double seconds, WatchMode mode, const std::function<std::string()>& frame);

}  // namespace ttmem::cli
