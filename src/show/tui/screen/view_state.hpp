// SPDX-License-Identifier: Apache-2.0
//
// What the user chose. Plain values: keys.hpp changes them, compose.hpp reads them.
#pragma once

#include <signal.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "read/model/device_name.hpp"
#include "read/model/snapshot.hpp"
#include "show/tui/screen/player.hpp"
#include "show/tui/screen/theme.hpp"

namespace ttmem::tui {

enum class View : std::uint8_t { detailed = 1, charts, cores, processes };
inline constexpr std::array<std::string_view, 4> kViewNames = {"Detailed", "Charts", "Cores",
                                                               "Processes"};

inline constexpr std::array<std::uint32_t, 4> kWindowsSeconds = {30, 60, 120, 300};

using model::ProcessKey;

// A list that can be sorted by any of its columns.
struct Sorting {
  std::uint32_t column = 0;
  bool descending = true;

  friend bool operator==(const Sorting&, const Sorting&) = default;
};

// F9 asks before it sends one of these.
struct Signal {
  std::string_view name;
  int number;
};
inline constexpr std::array<Signal, 3> kSignals = {
    {{"SIGTERM", SIGTERM}, {"SIGINT", SIGINT}, {"SIGKILL", SIGKILL}}};

// A question on the screen, or its answer.
struct EndProcess {
  std::int32_t pid = 0;  // as this program sees it
  std::string name;
  std::size_t signal = 0;  // of kSignals

  friend bool operator==(const EndProcess&, const EndProcess&) = default;
};

struct ViewState {
  View view = View::detailed;
  bool help = false;
  bool quit = false;
  bool paused = false;
  std::optional<Player> player{};  // none: what is shown is now
  bool elsewhere = false;          // what is shown is another machine
  bool save_settings = false;      // F12 was pressed; reset after saving
  std::optional<EndProcess> asks_to_end{};
  std::optional<EndProcess> end{};  // answered with yes; reset after it was done
  std::uint32_t interval_ms = 500;
  Theme theme = Theme::terminal;
  std::string message{};  // one line above the footer until the next key

  std::optional<model::DeviceName> device{};  // none or gone: the first one

  std::uint32_t window_seconds = 60;  // view 2

  std::uint16_t core_x = 0;  // view 3
  std::uint16_t core_y = 0;
  int map_scroll = 0;  // rows of the core's list

  Sorting sorting{.column = 4, .descending = true};             // view 4: by DRAM
  std::optional<model::DeviceName> only_device{};               // none: all
  std::optional<ProcessKey> selected{};                         // none or gone: the first row
  std::optional<ProcessKey> opened{};                           // its allocations are shown
  Sorting allocation_sorting{.column = 4, .descending = true};  // by physical size
  int allocation_row = 0;
  std::string filter{};
  bool typing_filter = false;

  friend bool operator==(const ViewState&, const ViewState&) = default;
};

}  // namespace ttmem::tui
