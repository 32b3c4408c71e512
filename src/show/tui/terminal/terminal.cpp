// SPDX-License-Identifier: Apache-2.0
#define NCURSES_WIDECHAR 1
#include "show/tui/terminal/terminal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <langinfo.h>
#include <ncurses.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "base/environment.hpp"
#include "show/tui/terminal/painter.hpp"
#include "show/tui/terminal/restore.hpp"

namespace ttmem::tui {
namespace {

// Sets the locale of the environment, or C.UTF-8 if the locale of the environment is not installed
// or does not use UTF-8. Returns true if curses can show UTF-8.
bool locale_shows_utf8() {
  std::setlocale(LC_CTYPE, "");
  if (std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0) return true;
  return std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr;
}

std::string capability(const char* name) {
  const char* text = tigetstr(name);
  // tigetstr() returns -1 for an unknown name, and null if the terminal lacks the capability.
  const bool missing = text == nullptr || reinterpret_cast<std::intptr_t>(text) == -1;
  return missing ? std::string() : text;
}

// Returns the sequences that reset colours and cursor, and leave the alternate screen, the mouse
// mode and the keypad mode.
std::string leaving_sequences() {
  std::string text = capability("sgr0") + capability("cnorm");
  if (!capability("kmous").empty()) text += "\x1b[?1006l\x1b[?1000l";
  return text + capability("rmkx") + capability("rmcup");
}

void set_modes() {
  cbreak();
  noecho();
  nonl();
  intrflush(stdscr, FALSE);
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  // After 25 ms without another byte, Esc is the key and not the begin of a sequence.
  set_escdelay(25);
  curs_set(0);
  mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, nullptr);
  mouseinterval(0);
}

std::optional<KeyPress> mouse_key() {
  MEVENT event{};
  if (getmouse(&event) != OK) return std::nullopt;
  KeyPress key{.code = KeyPress::Code::click, .x = event.x, .y = event.y};
  if ((event.bstate & BUTTON4_PRESSED) != 0) key.code = KeyPress::Code::wheel_up;
  if ((event.bstate & BUTTON5_PRESSED) != 0) key.code = KeyPress::Code::wheel_down;
  return key;
}

using Code = KeyPress::Code;
using Codes = std::pair<wint_t, Code>;

constexpr std::array<Codes, 16> kFunctionKeys = {{{KEY_UP, Code::up},
                                                  {KEY_DOWN, Code::down},
                                                  {KEY_LEFT, Code::left},
                                                  {KEY_RIGHT, Code::right},
                                                  {KEY_PPAGE, Code::page_up},
                                                  {KEY_NPAGE, Code::page_down},
                                                  {KEY_HOME, Code::home},
                                                  {KEY_END, Code::end},
                                                  {KEY_BTAB, Code::back_tab},
                                                  {KEY_ENTER, Code::enter},
                                                  {KEY_BACKSPACE, Code::backspace},
                                                  {KEY_F(1), Code::f1},
                                                  {KEY_F(6), Code::f6},
                                                  {KEY_F(9), Code::f9},
                                                  {KEY_F(10), Code::f10},
                                                  {KEY_F(12), Code::f12}}};
constexpr std::array<Codes, 6> kControls = {{{'\t', Code::tab},
                                             {'\r', Code::enter},
                                             {'\n', Code::enter},
                                             {27, Code::escape},
                                             {8, Code::backspace},
                                             {127, Code::backspace}}};

template <std::size_t N>
std::optional<KeyPress> find_key(const std::array<Codes, N>& codes, wint_t code) {
  for (const auto& [known, meaning] : codes) {
    if (known == code) return KeyPress{.code = meaning};
  }
  return std::nullopt;
}

}  // namespace

struct Terminal::Impl {
  std::FILE* input = nullptr;  // stdin if stdin is a terminal, otherwise /dev/tty
  SCREEN* screen = nullptr;
  std::optional<Painter> painter;
  int signals = -1;
  bool unicode = true;
  bool resized = false;
  std::optional<KeyPress> waiting;
};

Terminal::Terminal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Terminal::~Terminal() {
  curs_set(1);
  endwin();
  disarm_restore();
  delscreen(impl_->screen);
  if (impl_->input != stdin) std::fclose(impl_->input);
}

Result<std::unique_ptr<Terminal>> Terminal::open(bool color, bool unicode) {
  auto impl = std::make_unique<Impl>();
  impl->unicode = unicode && locale_shows_utf8();
  impl->input = ::isatty(STDIN_FILENO) == 1 ? stdin : std::fopen("/dev/tty", "re");
  if (impl->input == nullptr) {
    return Error{"no terminal to read keys from; `ttmem top --once` needs none"};
  }
  restore_on_crash(STDOUT_FILENO);
  const std::string type = environment("TERM");
  impl->screen = newterm(nullptr, stdout, impl->input);
  if (impl->screen == nullptr || capability("cup").empty()) {
    if (impl->screen != nullptr) endwin();
    disarm_restore();
    return Error{
        fmt::format("the terminal type '{}' cannot move the cursor; set TERM, for example to "
                    "xterm, or use `ttmem --watch 1`",
                    type)};
  }
  set_restore_sequences(leaving_sequences());
  impl->signals = stop_signals();
  impl->painter.emplace(color);
  set_modes();
  return std::unique_ptr<Terminal>(new Terminal(std::move(impl)));
}

Display Terminal::display() const {
  return {impl_->unicode, impl_->painter->depth() != Depth::none};
}

Size Terminal::size() const { return {getmaxx(stdscr), getmaxy(stdscr)}; }

void Terminal::paint(const Frame& frame, Theme theme) { impl_->painter->paint(frame, theme); }

std::optional<KeyPress> Terminal::read() {
  if (impl_->waiting) return std::exchange(impl_->waiting, std::nullopt);
  for (;;) {
    wint_t code = 0;
    const int kind = get_wch(&code);
    if (kind == ERR) return std::nullopt;
    if (kind != KEY_CODE_YES) {
      const KeyPress character{.character = static_cast<char32_t>(code)};
      return find_key(kControls, code).value_or(character);
    }
    if (code == KEY_RESIZE) {
      impl_->resized = true;
      impl_->painter->forget();
    } else if (const auto key = code == KEY_MOUSE ? mouse_key() : find_key(kFunctionKeys, code)) {
      return key;
    }
  }
}

Terminal::Event Terminal::wait(int milliseconds) {
  std::array<pollfd, 2> items = {
      {{::fileno(impl_->input), POLLIN, 0}, {impl_->signals, POLLIN, 0}}};
  ::poll(items.data(), items.size(), milliseconds);
  if ((items[1].revents & POLLIN) != 0) return Event::stop;
  // Reads even if poll() found no input: a resize (SIGWINCH) ends poll(), and curses then returns
  // the new size as a key.
  impl_->waiting = read();
  if (std::exchange(impl_->resized, false)) return Event::resized;
  if (impl_->waiting) return Event::input;
  const bool gone = (items[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
  return gone ? Event::stop : Event::nothing;
}

}  // namespace ttmem::tui
