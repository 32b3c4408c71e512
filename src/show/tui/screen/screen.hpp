// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "show/tui/screen/frame.hpp"

namespace ttmem::tui {

// The effect of a click on a region of the screen.
struct Click {
  enum class What : std::uint8_t {
    none,
    // Value: the number of the view
    view,
    // Value: the index of the device in the snapshot
    device,
    // Value: x in the low 16 bits, y in the high 16 bits
    core,
    process,     // Value: index of the row
    allocation,  // Value: index of the row
    // Value: the column to sort by. A second click on the column reverses the order.
    column,
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
  int rows = 0;     // number of all rows
  int visible = 0;  // number of rows that are visible at once
};

// A composed screen: its cells, and the facts that the handling of keys and clicks needs.
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
