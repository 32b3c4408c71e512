// SPDX-License-Identifier: Apache-2.0
//
// The terminal, accessed through curses. In this folder only terminal, painter and restore use
// curses.
#pragma once

#include <memory>
#include <optional>

#include "base/result.hpp"
#include "show/tui/screen/frame.hpp"
#include "show/tui/screen/keys.hpp"
#include "show/tui/screen/theme.hpp"

namespace ttmem::tui {

// Takes over the terminal during its lifetime: alternate screen, no echo, mouse events. The
// destructor restores the terminal. The terminal is also restored if a signal that can be caught
// ends the process. At most one Terminal exists at a time; one thread uses it.
class Terminal {
 public:
  // Opens the terminal. `color`: the user wants colours; `unicode`: the terminal shows UTF-8. Fails
  // if there is no terminal or its type is unknown.
  [[nodiscard]] static Result<std::unique_ptr<Terminal>> open(bool color, bool unicode);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Returns the abilities of this terminal.
  [[nodiscard]] Display display() const;
  [[nodiscard]] Size size() const;

  // Shows the frame. Writes only the changes since the last frame.
  void paint(const Frame& frame, Theme theme);

  // Waits for a key, a signal or a new size, for at most `milliseconds`.
  enum class Event : std::uint8_t {
    nothing,  // the time is over
    input,    // read() returns a key
    resized,
    stop,  // a signal asks to end, or the terminal is gone
  };
  [[nodiscard]] Event wait(int milliseconds);
  // Returns the next waiting key, or nullopt.
  [[nodiscard]] std::optional<KeyPress> read();

 private:
  struct Impl;
  explicit Terminal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ttmem::tui
