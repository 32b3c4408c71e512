// SPDX-License-Identifier: Apache-2.0
//
// Figures in the text format of Prometheus (version 0.0.4). Values are bytes and counts; an unknown
// figure has no sample. Pure, safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "read/model/counters.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::views {

// A figure about the server itself, not about devices.
struct ServerFigure {
  std::string name;  // name of the metric; the name of a counter ends in _total
  std::string help;
  bool counter = false;
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};

struct MetricsInput {
  bool up = true;  // true if the directory of the segments could be read
  // If false, the page has no figures of single processes.
  bool process_labels = true;
  std::vector<model::DeviceCounters> counters;
  std::uint64_t events_dropped = 0;
};

// Returns the figures of a snapshot as a page. The values of samples with equal labels are added
// up, because Prometheus refuses duplicates. Such samples exist if one process has two segments,
// its own and a proxy segment of a server.
[[nodiscard]] std::string prometheus_text(const model::Snapshot& snapshot,
                                          const MetricsInput& input);

// Returns the server's own figures as text that is appended to the page. In `figures`, entries with
// the same name must be adjacent.
[[nodiscard]] std::string prometheus_text(const std::vector<ServerFigure>& figures);

}  // namespace ttmem::views
