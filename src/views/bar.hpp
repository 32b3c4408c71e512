// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "views/text.hpp"

namespace ttmem::views {

// A piece of a bar: from `begin` to `end`, both shares of the whole, 0 to 1.
struct BarPiece {
  double begin = 0;
  double end = 0;
  Color color = Color::plain;
};

// Adds a bar of exactly `cells` cells with one filled piece to `line`. A piece that holds anything
// is never drawn empty. `track` draws what is free as a dim track, else it stays blank: the parts
// of a whole, each at its own place, then read as steps.
void add_bar(Line& line, std::size_t cells, const BarPiece& piece, bool track,
             const TextOptions& options);

// One character per share, higher is fuller; unknown is '?', nothing is '.'.
[[nodiscard]] std::string spark(std::optional<double> share, const TextOptions& options);

}  // namespace ttmem::views
