// SPDX-License-Identifier: Apache-2.0
//
// The choices of the user as plain values. keys.hpp changes them, compose.hpp reads them.
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

// A process to end and the signal to send. Used for the question on the screen, and for the
// confirmed answer to the question.
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
  std::optional<Player> player{};  // the played recording; nullopt: live figures
  bool elsewhere = false;          // the figures come from another machine
  bool save_settings = false;      // F12 was pressed; reset after saving
  std::optional<EndProcess> asks_to_end{};
  std::optional<EndProcess> end{};  // confirmed question; reset after the signal was sent
  std::uint32_t interval_ms = 500;
  Theme theme = Theme::terminal;
  std::string message{};  // one line above the footer until the next key

  std::optional<model::DeviceName> device{};  // nullopt or gone: the first device

  std::uint32_t window_seconds = 60;  // view 2

  std::uint16_t core_x = 0;  // view 3
  std::uint16_t core_y = 0;
  int map_scroll = 0;  // scrolled rows of the core's list

  Sorting sorting{.column = 4, .descending = true};  // view 4: by DRAM
  std::optional<model::DeviceName> only_device{};    // nullopt: all devices
  std::optional<ProcessKey> selected{};              // nullopt or gone: the first row
  std::optional<ProcessKey> opened{};                // process whose allocations are shown
  Sorting allocation_sorting{.column = 4, .descending = true};  // by physical size
  int allocation_row = 0;
  std::string filter{};
  bool typing_filter = false;

  friend bool operator==(const ViewState&, const ViewState&) = default;
};

}  // namespace ttmem::tui
