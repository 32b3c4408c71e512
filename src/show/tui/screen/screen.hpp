// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "show/tui/screen/frame.hpp"

namespace ttmem::tui {

// What a click means.
struct Click {
  enum class What : std::uint8_t {
    none,
    view,        // value: its number
    device,      // value: its index in the snapshot
    core,        // value: x, and y in the high half
    process,     // value: row
    allocation,  // value: row
    column,      // value: sort by it; again: the other way round
  };
  What what = What::none;
  std::uint32_t value = 0;
};

struct Hit {
  Rect rect;
  Click click;
};

// A part of the screen that shows one thing. Regions do not overlap.
struct Region {
  std::string name;
  Rect rect;
};

// A list of which a part is visible.
struct ListExtent {
  int rows = 0;     // in all
  int visible = 0;  // at once
};

// A composed screen: the cells, and what keys and clicks need to know of it.
struct Screen {
  explicit Screen(Size size) : frame(size) {}

  Frame frame;
  std::vector<Region> regions;
  std::vector<Hit> hits;
  ListExtent list;  // what up, down and the page keys move through

  void claim(std::string name, const Pane& pane) {
    if (!pane.rect().empty()) regions.push_back({std::move(name), pane.rect()});
  }
  void click_at(Rect rect, Click::What what, std::uint32_t value) {
    hits.push_back({rect, {what, value}});
  }
};

}  // namespace ttmem::tui
