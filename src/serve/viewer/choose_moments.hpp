// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyse/report/report.hpp"
#include "read/recording/file/tables.hpp"
#include "serve/viewer/lines.hpp"

namespace ttmem::viewer {

// A moment at which the page can show everything: the cores, the lists.
struct ChosenMoment {
  Time time_ns = 0;
  std::vector<std::string> why{};  // what is special about it: "L1 peak of device 0"
};

struct Moments {
  std::vector<ChosenMoment> chosen{};  // in the order of time
  bool is_thinned = false;             // false: every change within the range is one of them
};

// How many there may be, beside the extremes and failures.
struct Room {
  std::size_t others = 0;    // spread over the time, each the highest of its neighbours
  std::size_t marks = 0;     // or about twice as many
  bool every_device = true;  // else only the fullest one has its extremes
};

// Those within the range that somebody will look for: the extremes of the report, the highest
// points of each line, the last before a device was closed, failures, marks; and others. Pure.
[[nodiscard]] Moments choose_moments(const recording::Tables& tables, const report::Report& report,
                                     const Lines& lines, const TimeRange& range, const Room& room);

}  // namespace ttmem::viewer
