// SPDX-License-Identifier: Apache-2.0
//
// The terminal, through curses. Only this folder's terminal, painter and restore know curses.
#pragma once

#include <memory>
#include <optional>

#include "base/result.hpp"
#include "show/tui/screen/frame.hpp"
#include "show/tui/screen/keys.hpp"
#include "show/tui/screen/theme.hpp"

namespace ttmem::tui {

// Takes the terminal over while it lives: the other screen, no echo, the mouse. At its end, and
// when a signal that can be caught ends the process, the terminal is restored. At most one at a
// time; one thread uses it.
class Terminal {
 public:
  // `color`: whether colours are wanted; `unicode`: whether the terminal shows UTF-8. Fails when
  // there is no terminal or its type is unknown.
  [[nodiscard]] static Result<std::unique_ptr<Terminal>> open(bool color, bool unicode);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // What this terminal can show.
  [[nodiscard]] Display display() const;
  [[nodiscard]] Size size() const;

  // Shows the frame; writes only what changed since the last one.
  void paint(const Frame& frame, Theme theme);

  // Waits for a key, a signal, a new size, or until so many milliseconds are over.
  enum class Event : std::uint8_t {
    nothing,  // the time is over
    input,    // read() has something
    resized,
    stop,  // a signal asks to end, or the terminal is gone
  };
  [[nodiscard]] Event wait(int milliseconds);
  // The next key that waits; none: no more.
  [[nodiscard]] std::optional<KeyPress> read();

 private:
  struct Impl;
  explicit Terminal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ttmem::tui
