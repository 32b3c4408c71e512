// SPDX-License-Identifier: Apache-2.0
//
// The terminal: what it can show, and output to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "text/text.hpp"

namespace ttmem::cli {

// kLimit: a limit that the user gave is exceeded. kUnknown: the command cannot find the answer.
enum ExitCode : int { kSuccess = 0, kFailure = 1, kUsage = 2, kLimit = 3, kUnknown = 4 };

// The value of --color.
enum class ColorWhen : std::uint8_t { automatic, always, never };
[[nodiscard]] Result<ColorWhen> parse_color(const std::string& text);

// Returns the layout of text on standard output. The width is COLUMNS, else the width of the
// terminal, else 80. Colour is used on a terminal, unless NO_COLOR is set or TERM is dumb. Unicode
// is used if the name of the locale contains UTF-8. If standard output is not a terminal, text is
// shortened only if COLUMNS is set.
[[nodiscard]] text::TextOptions text_options(ColorWhen color);

[[nodiscard]] bool stdout_is_terminal();
// Returns the rows of the terminal at standard output; 24 if unknown.
[[nodiscard]] std::size_t terminal_rows();

enum class Written : std::uint8_t {
  all,
  closed,       // the reader has closed the pipe: `ttmem | head`
  interrupted,  // `stop` became true
  failed,       // errno has the reason
};

// Writes all of `text` to standard output, in one call of write() if Linux takes all bytes. After a
// signal, continues unless `*stop` is set. Never raises SIGPIPE.
[[nodiscard]] Written write_stdout(std::string_view text, const volatile int* stop = nullptr);

// Writes `text` and returns an exit code. A closed pipe is not an error; other errors are printed.
[[nodiscard]] int print(std::string_view text);

// Prints one line to standard error: "ttmem: <message>".
void say(std::string_view message);
// Prints to standard error which file or folder was written, with its size. Prints nothing for
// standard output ("-"), a pipe or a device.
void say_written(const std::string& path);
// Prints the message of a failure, and returns `code`.
int complain(std::string_view message, ExitCode code);

// Prints one line per warning to standard error.
void print_warnings(const std::vector<std::string>& warnings);

}  // namespace ttmem::cli
