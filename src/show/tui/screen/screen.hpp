// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "show/tui/screen/frame.hpp"

namespace ttmem::tui {

// The effect of a click.
struct Click {
  enum class What : std::uint8_t {
    none,
    view,        // value: number of the view
    device,      // value: index in the snapshot
    core,        // value: x in the low half, y in the high half
    process,     // value: row
    allocation,  // value: row
    column,      // value: column to sort by; a second click reverses the order
  };
  What what = What::none;
  std::uint32_t value = 0;
};

struct Hit {
  Rect rect;
  Click click;
};

// A named part of the screen. Regions do not overlap.
struct Region {
  std::string name;
  Rect rect;
};

// The size of a list and of its visible part.
struct ListExtent {
  int rows = 0;     // all rows
  int visible = 0;  // rows visible at once
};

// A composed screen: the cells, and the facts that keys and clicks need.
struct Screen {
  explicit Screen(Size size) : frame(size) {}

  Frame frame;
  std::vector<Region> regions;
  std::vector<Hit> hits;
  ListExtent list;  // the list that up, down and the page keys scroll

  void claim(std::string name, const Pane& pane) {
    if (!pane.rect().empty()) regions.push_back({std::move(name), pane.rect()});
  }
  void click_at(Rect rect, Click::What what, std::uint32_t value) {
    hits.push_back({rect, {what, value}});
  }
};

}  // namespace ttmem::tui
