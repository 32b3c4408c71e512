// SPDX-License-Identifier: Apache-2.0
//
// The terminal, accessed through curses. In this folder only terminal and painter use curses.
#pragma once

#include <memory>
#include <optional>

#include "base/result.hpp"
#include "show/tui/screen/frame.hpp"
#include "show/tui/screen/keys.hpp"
#include "show/tui/screen/theme.hpp"

namespace ttmem::tui {

// Controls the terminal as long as the object exists: alternate screen, no echo, mouse events. The
// destructor restores the terminal. The terminal is also restored if a signal ends the process,
// except for signals that cannot be caught. At most one Terminal exists at a time; only one thread
// may use it.
class Terminal {
 public:
  // Opens the terminal. `color` is true if the user wants colours, `unicode` if the terminal shows
  // UTF-8. Fails if there is no terminal or if the type of the terminal is unknown.
  [[nodiscard]] static Result<std::unique_ptr<Terminal>> open(bool color, bool unicode);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Returns the abilities of this terminal.
  [[nodiscard]] Display display() const;
  [[nodiscard]] Size size() const;

  // Shows the frame. Writes only the cells that differ from the last frame.
  void paint(const Frame& frame, Theme theme);

  // The results of wait(), which waits for a key, a signal or a new size of the terminal, for at
  // most `milliseconds`.
  enum class Event : std::uint8_t {
    nothing,  // nothing happened within `milliseconds`
    input,    // read() returns a key
    resized,
    stop,  // a signal asks the program to end, or the terminal is closed
  };
  [[nodiscard]] Event wait(int milliseconds);
  // Returns the next key that was pressed and not yet read, or nullopt if there is none.
  [[nodiscard]] std::optional<KeyPress> read();

 private:
  struct Impl;
  explicit Terminal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ttmem::tui
