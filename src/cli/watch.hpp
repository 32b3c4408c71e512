// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace ttmem::cli {

enum class WatchMode : std::uint8_t {
  // Each frame replaces the previous frame on the terminal's alternate screen. A frame must not
  // have more lines than the screen.
  redraw,
  append,  // each frame follows the previous one
};

// Writes the result of frame() to standard output every `seconds`, and at once when the size of the
// terminal changes. Stops at SIGINT, at SIGTERM, or when the reader closes the pipe. Afterwards the
// terminal shows its earlier contents, and below them the last frame. Returns an exit code.
[[nodiscard]] int watch(double seconds, WatchMode mode, const std::function<std::string()>& frame);

}  // namespace ttmem::cli
