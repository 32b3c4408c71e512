// SPDX-License-Identifier: Apache-2.0
//
// The choices of the user. handle() (keys.hpp) changes them, compose() (compose.hpp) reads them.
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

// The column and direction by which a list is sorted.
struct Sorting {
  std::uint32_t column = 0;
  bool descending = true;

  friend bool operator==(const Sorting&, const Sorting&) = default;
};

// The signals that F9 offers.
struct Signal {
  std::string_view name;
  int number;
};
inline constexpr std::array<Signal, 3> kSignals = {
    {{"SIGTERM", SIGTERM}, {"SIGINT", SIGINT}, {"SIGKILL", SIGKILL}}};

// A process to end, and the signal to send.
struct EndProcess {
  std::int32_t pid = 0;  // in the pid namespace of this program
  std::string name;
  std::size_t signal = 0;  // index into kSignals

  friend bool operator==(const EndProcess&, const EndProcess&) = default;
};

struct ViewState {
  View view = View::detailed;
  bool help = false;
  bool quit = false;
  bool paused = false;
  std::optional<Player> player{};  // the recording that is played; nullopt: live figures
  bool elsewhere = false;          // true if the figures come from another machine
  // True after F12 was pressed, until the settings are saved.
  bool save_settings = false;
  std::optional<EndProcess> asks_to_end{};
  // The process to end, after the user confirmed. Reset after the signal was sent.
  std::optional<EndProcess> end{};
  std::uint32_t interval_ms = 500;
  Theme theme = Theme::terminal;
  std::string message{};  // text of the line above the footer; the next key clears it

  // The selected device. If nullopt or not in the snapshot, the first device is selected.
  std::optional<model::DeviceName> device{};

  std::uint32_t window_seconds = 60;  // time that the charts of view 2 show

  std::uint16_t core_x = 0;  // position of the selected core in view 3
  std::uint16_t core_y = 0;
  int map_scroll = 0;  // number of rows by which the list of the core's ranges is scrolled

  // The processes of view 4 are sorted by DRAM at first.
  Sorting sorting{.column = 4, .descending = true};
  // The device whose processes view 4 lists; nullopt: all devices.
  std::optional<model::DeviceName> only_device{};
  // The selected process of view 4. If nullopt or not in the list, the first row is selected.
  std::optional<ProcessKey> selected{};
  // The process whose allocations view 4 shows; nullopt: the list of processes.
  std::optional<ProcessKey> opened{};
  // The allocations of view 4 are sorted by physical size at first.
  Sorting allocation_sorting{.column = 4, .descending = true};
  int allocation_row = 0;
  std::string filter{};
  bool typing_filter = false;

  friend bool operator==(const ViewState&, const ViewState&) = default;
};

}  // namespace ttmem::tui
