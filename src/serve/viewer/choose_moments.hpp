// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyse/report/report.hpp"
#include "read/recording/file/tables.hpp"
#include "serve/viewer/lines.hpp"

namespace ttmem::viewer {

// A moment at which the page can show all details: the cores and the lists.
struct ChosenMoment {
  Time time_ns = 0;
  std::vector<std::string> why{};  // reasons to show the moment, such as "L1 peak of device 0"
};

struct Moments {
  std::vector<ChosenMoment> chosen{};  // sorted by time
  // True if the range has changes that `chosen` does not show.
  bool is_thinned = false;
};

// How many moments may be chosen. Extremes and failures are chosen in addition.
struct Room {
  // Maximum number of moments besides extremes, failures and marks. The range is divided into this
  // many equal slices of time, and the moment with the highest L1 of each slice is chosen.
  std::size_t others = 0;
  std::size_t marks = 0;     // approximate number of marks; up to twice as many may be chosen
  bool every_device = true;  // true: extremes of every device; false: only of the fullest device
};

// Chooses the moments within the range that a reader will look for: the extremes of the report, the
// highest points of each line, the last point before a device was closed, failures and marks. Adds
// other moments as far as there is room. Pure.
[[nodiscard]] Moments choose_moments(const recording::Tables& tables, const report::Report& report,
                                     const Lines& lines, const TimeRange& range, const Room& room);

}  // namespace ttmem::viewer
