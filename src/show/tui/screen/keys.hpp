// SPDX-License-Identifier: Apache-2.0
//
// The effect of keys on the state of the view, without a terminal. Pure, safe from any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "read/model/snapshot.hpp"
#include "show/tui/screen/screen.hpp"
#include "show/tui/screen/view_state.hpp"

namespace ttmem::tui {

struct KeyPress {
  enum class Code : std::uint8_t {
    character,
    up,
    down,
    left,
    right,
    page_up,
    page_down,
    home,
    end,
    tab,
    back_tab,
    enter,
    escape,
    backspace,
    f1,
    f6,
    f9,
    f10,
    f12,
    click,  // a click at the cell (x, y)
    wheel_up,
    wheel_down,
  };
  Code code = Code::character;
  char32_t character = 0;
  int x = 0;
  int y = 0;
};

// Returns the state after a key. `screen` is the screen that the user saw when pressing the key,
// `snapshot` the snapshot that this screen shows. A key without a meaning only clears the message.
[[nodiscard]] ViewState handle(ViewState state, const KeyPress& key,
                               const model::Snapshot& snapshot, const Screen& screen);

// A key and its effect, for the footer and the help.
struct KeyHint {
  std::string_view key;
  std::string_view does;
};
// Returns the hints of a view, the most useful first. Help and quit come last.
[[nodiscard]] std::vector<KeyHint> hints_of(const ViewState& state);

// The limits of the refresh interval, which the keys + and - change.
inline constexpr std::uint32_t kShortestIntervalMs = 50;
inline constexpr std::uint32_t kLongestIntervalMs = 10'000;

}  // namespace ttmem::tui
