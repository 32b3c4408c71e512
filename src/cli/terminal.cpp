// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "base/environment.hpp"
#include "base/format_bytes.hpp"
#include "base/parse_number.hpp"
#include "base/plural.hpp"
#include "base/shorten.hpp"

namespace ttmem::cli {
namespace {

// The maximum width of text. No terminal has so many columns. Without this limit, a mistyped
// COLUMNS could make lines of a megabyte.
constexpr std::size_t kMaxColumns = 1000;

// The maximum length of a message, enough for the longest path and the text around the path.
constexpr std::size_t kMaxMessageBytes = 5000;

std::size_t columns() {
  const std::size_t wanted = parse_number<std::size_t>(environment("COLUMNS")).value_or(0);
  winsize size{};
  if (wanted > 0) return std::min(wanted, kMaxColumns);
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::min<std::size_t>(size.ws_col, kMaxColumns);
  }
  return 80;
}

// Returns true if the name of the locale contains UTF-8. Does not use setlocale(), because the
// terminal may show UTF-8 even if the locale is not installed.
bool locale_is_utf8() {
  const char* name = environment_or("LC_ALL", environment_or("LC_CTYPE", environment("LANG")));
  std::string folded;
  for (char c : std::string_view(name)) {
    if (c != '-') folded += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return folded.find("utf8") != std::string::npos;
}

bool wants_color(ColorWhen when) {
  if (when != ColorWhen::automatic) return when == ColorWhen::always;
  return stdout_is_terminal() && *environment("NO_COLOR") == '\0' &&
         std::strcmp(environment("TERM"), "dumb") != 0;
}

std::int64_t utc_offset_seconds() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  return localtime_r(&now, &local) == nullptr ? 0 : local.tm_gmtoff;
}

}  // namespace

Result<ColorWhen> parse_color(const std::string& text) {
  if (text == "auto") return ColorWhen::automatic;
  if (text == "always") return ColorWhen::always;
  if (text == "never") return ColorWhen::never;
  return Error{fmt::format("--color {}: must be auto, always or never", text)};
}

text::TextOptions text_options(ColorWhen color) {
  const bool shorten = stdout_is_terminal() || *environment("COLUMNS") != '\0';
  return {columns(), wants_color(color), locale_is_utf8(), utc_offset_seconds(), shorten};
}

bool stdout_is_terminal() { return isatty(STDOUT_FILENO) == 1; }

std::size_t terminal_rows() {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return known ? size.ws_row : 24;
}

Written write_stdout(std::string_view text, const volatile int* stop) {
  std::signal(SIGPIPE, SIG_IGN);
  while (!text.empty()) {
    const ssize_t count = write(STDOUT_FILENO, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EPIPE) {
      return Written::closed;
    } else if (errno != EINTR) {
      return Written::failed;
    } else if (stop != nullptr && *stop != 0) {
      return Written::interrupted;
    }
  }
  return Written::all;
}

int print(std::string_view text) {
  if (write_stdout(text) != Written::failed) return kSuccess;
  return complain(fmt::format("cannot write to standard output: {}; the output is incomplete",
                              std::strerror(errno)),
                  kFailure);
}

void say(std::string_view message) {
  // A message quotes text of users and files. The quoted text may be long, and may contain line
  // breaks, which are escaped. A long message is shortened in the middle, because it begins with
  // its object and ends with the next step.
  const std::string line = text::printable(shortened(message, kMaxMessageBytes), true);
  std::fprintf(stderr, "ttmem: %s\n", line.c_str());
}

void say_written(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (path == "-") return;
  if (fs::is_regular_file(path, failed)) {
    const std::uintmax_t bytes = fs::file_size(path, failed);
    if (!failed) say(fmt::format("wrote {}: {}", path, format_bytes(bytes)));
    return;
  }
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  for (const fs::directory_entry& file : fs::directory_iterator(path, failed)) {
    const std::uintmax_t size = file.file_size(failed);
    if (failed) return;
    ++files;
    bytes += size;
  }
  if (files > 0) {
    say(fmt::format("wrote {}: {}, {}", path, plural(files, "file", "files"), format_bytes(bytes)));
  }
}

int complain(std::string_view message, ExitCode code) {
  say(message);
  return code;
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) say("warning: " + warning);
}

}  // namespace ttmem::cli
