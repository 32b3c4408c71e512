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
  std::vector<std::string> why{};  // reasons to show the moment: "L1 peak of device 0"
};

struct Moments {
  std::vector<ChosenMoment> chosen{};  // sorted by time
  // false: `chosen` has every change within the range; true: changes are missing.
  bool is_thinned = false;
};

// The maximum numbers of moments. Extremes and failures are chosen in addition.
struct Room {
  // Moments that are spread over the time. Each is the highest of its neighbours.
  std::size_t others = 0;
  std::size_t marks = 0;     // marks; up to about twice this number may be chosen
  bool every_device = true;  // true: extremes of every device; false: only of the fullest device
};

// Chooses the moments within the range that a reader will look for: the extremes of the report, the
// highest points of each line, the last point before a device was closed, failures and marks. Adds
// other moments as far as there is room. Pure.
[[nodiscard]] Moments choose_moments(const recording::Tables& tables, const report::Report& report,
                                     const Lines& lines, const TimeRange& range, const Room& room);

}  // namespace ttmem::viewer
