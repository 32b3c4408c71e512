// SPDX-License-Identifier: Apache-2.0
#include "show/tui/terminal/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/environment.hpp"
#include "base/parse_number.hpp"
#include "show/tui/screen/keys.hpp"
#include "show/tui/screen/process_list.hpp"

namespace ttmem::tui {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

bool apply_number(std::string_view key, std::uint32_t number, ViewState& state) {
  if (key == "view" && number >= 1 && number <= kViewNames.size()) {
    state.view = static_cast<View>(number);
  } else if (key == "interval_ms" && number >= kShortestIntervalMs &&
             number <= kLongestIntervalMs) {
    state.interval_ms = number;
  } else if (key == "window_seconds" && std::find(kWindowsSeconds.begin(), kWindowsSeconds.end(),
                                                  number) != kWindowsSeconds.end()) {
    state.window_seconds = number;
  } else {
    return false;
  }
  return true;
}

bool apply_sorting(std::string_view value, ViewState& state) {
  if (value.size() < 2 || value.front() != '"' || value.back() != '"') return false;
  const std::string_view name = value.substr(1, value.size() - 2);
  for (std::uint32_t column = 0; column < kProcessColumns; ++column) {
    if (process_column(column) != name) continue;
    state.sorting.column = column;
    return true;
  }
  return false;
}

bool apply_line(std::string_view line, ViewState& state) {
  line = trimmed(line);
  if (line.empty() || line.front() == '#') return true;
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view key = trimmed(line.substr(0, equals));
  const std::string_view value = trimmed(line.substr(equals + 1));
  if (key == "sort") return apply_sorting(value, state);
  if (key == "theme" && (value == "\"light\"" || value == "\"terminal\"")) {
    state.theme = value == "\"light\"" ? Theme::light : Theme::terminal;
    return true;
  }
  if (key == "sort_descending" && (value == "true" || value == "false")) {
    state.sorting.descending = value == "true";
    return true;
  }
  const auto number = parse_number<std::uint32_t>(value);
  return number && apply_number(key, *number, state);
}

}  // namespace

std::string settings_path() {
  const std::string config = environment("XDG_CONFIG_HOME");
  if (!config.empty()) return config + "/ttmem/top.toml";
  const std::string home = environment("HOME");
  return home.empty() ? "" : home + "/.config/ttmem/top.toml";
}

int apply_settings(std::string_view text, ViewState& state) {
  int ignored = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (!apply_line(text.substr(0, end), state)) ++ignored;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return ignored;
}

void load_settings(const std::string& path, ViewState& state) {
  constexpr std::streamsize kLongest = 64 * 1024;
  std::ifstream file(path, std::ios::binary);
  if (path.empty() || !file) return;
  std::string text(static_cast<std::size_t>(kLongest), '\0');
  file.read(text.data(), kLongest);
  text.resize(static_cast<std::size_t>(file.gcount()));
  const int ignored = apply_settings(text, state);
  if (ignored > 0) {
    state.message = fmt::format("{}: {} lines are not valid and ignored; F12 writes the file again",
                                path, ignored);
  }
}

Result<void> save_settings(const std::string& path, const ViewState& state) {
  if (path.empty())
    return Error{"cannot save settings: neither XDG_CONFIG_HOME nor HOME is set; set one"};
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  errno = 0;
  std::ofstream file(path, std::ios::trunc);
  file << fmt::format(
      "# How ttmem top starts. F12 writes this file; remove it for the defaults.\n"
      "view = {}\ninterval_ms = {}\nwindow_seconds = {}\ntheme = \"{}\"\nsort = \"{}\"\n"
      "sort_descending = {}\n",
      static_cast<int>(state.view), state.interval_ms, state.window_seconds,
      state.theme == Theme::light ? "light" : "terminal", process_column(state.sorting.column),
      state.sorting.descending);
  file.close();
  if (file) return {};
  return Error{fmt::format("cannot write {}: {}; make its folder writable", path,
                           std::strerror(errno == 0 ? EIO : errno))};
}

}  // namespace ttmem::tui
