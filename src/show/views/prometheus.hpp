// SPDX-License-Identifier: Apache-2.0
//
// The text format of Prometheus (version 0.0.4). Bytes and counts; what is unknown has no sample.
// Pure, safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "read/model/counters.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::views {

// A figure of the server about itself.
struct ServerFigure {
  std::string name;  // counters end in _total
  std::string help;
  bool counter = false;
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};

struct MetricsInput {
  bool up = true;              // the directory of the segments could be read
  bool process_labels = true;  // false: nothing that names a process
  std::vector<model::DeviceCounters> counters;
  std::uint64_t events_dropped = 0;
};

// Samples with the same labels are added up, because Prometheus refuses a page with duplicates: one
// process may have two segments, its own and one that a server writes for it.
[[nodiscard]] std::string prometheus_text(const model::Snapshot& snapshot,
                                          const MetricsInput& input);

// What follows on the same page. Figures of one name follow each other.
[[nodiscard]] std::string prometheus_text(const std::vector<ServerFigure>& figures);

}  // namespace ttmem::views
