// SPDX-License-Identifier: Apache-2.0
//
// The edge to the world: what the terminal can show, and writing to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "text/text.hpp"

namespace ttmem::cli {

// kLimit: a limit that the user set is exceeded. kUnknown: what was asked cannot be known.
enum ExitCode : int { kSuccess = 0, kFailure = 1, kUsage = 2, kLimit = 3, kUnknown = 4 };

// When --color says so.
enum class ColorWhen : std::uint8_t { automatic, always, never };
[[nodiscard]] Result<ColorWhen> parse_color(const std::string& text);

// How standard output shows text now. Width: COLUMNS, else the terminal's, else 80. Colour: on a
// terminal, unless NO_COLOR is set or TERM is dumb. Unicode: when the locale's name says UTF-8.
// Nothing is shortened when standard output is no terminal and COLUMNS does not ask for it.
[[nodiscard]] text::TextOptions text_options(ColorWhen color);

[[nodiscard]] bool stdout_is_terminal();
// Of the terminal at standard output; 24 when it does not say.
[[nodiscard]] std::size_t terminal_rows();

enum class Written : std::uint8_t {
  all,
  closed,       // the reader has gone: `ttmem | head`
  interrupted,  // `stop` became true
  failed,       // errno says why
};

// Writes all of `text` to standard output, in one call where the kernel takes it. A signal only
// ends it when `*stop` is set by then. Never raises SIGPIPE.
[[nodiscard]] Written write_stdout(std::string_view text, const volatile int* stop = nullptr);

// The same, as an exit code: a reader that has gone is not an error, anything else is printed.
[[nodiscard]] int print(std::string_view text);

// One line on standard error: "ttmem: <message>".
void say(std::string_view message);
// The same for a failure. Returns `code`.
int complain(std::string_view message, ExitCode code);

// One line each on standard error.
void print_warnings(const std::vector<std::string>& warnings);

}  // namespace ttmem::cli
