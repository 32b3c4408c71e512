// SPDX-License-Identifier: Apache-2.0
//
// What a key does. No terminal is involved. Pure, safe from any thread.
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
    click,  // at x, y
    wheel_up,
    wheel_down,
  };
  Code code = Code::character;
  char32_t character = 0;
  int x = 0;
  int y = 0;
};

// The state after a key. `screen` is what the person saw when pressing it, `snapshot` what it was
// composed of. A key without meaning here only clears the message.
[[nodiscard]] ViewState handle(ViewState state, const KeyPress& key,
                               const model::Snapshot& snapshot, const Screen& screen);

// For the footer and the help: a key and what it does.
struct KeyHint {
  std::string_view key;
  std::string_view does;
};
// Those of a view, the most useful first; they end with help and quit.
[[nodiscard]] std::vector<KeyHint> hints_of(const ViewState& state);

// Refresh intervals that + and - go through.
inline constexpr std::uint32_t kShortestIntervalMs = 50;
inline constexpr std::uint32_t kLongestIntervalMs = 10'000;

}  // namespace ttmem::tui
