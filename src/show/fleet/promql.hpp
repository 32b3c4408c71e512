// SPDX-License-Identifier: Apache-2.0
//
// The queries to a Prometheus for a table of hosts. Pure, safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ttmem::fleet {

// The labels of hosts and of batch jobs. In the usual scrape configuration Prometheus's own label
// `job` displaces the `job` of ttmem, which becomes `exported_job` (docs/reference/jobs.md).
struct LabelNames {
  std::string host = "instance";
  std::string job = "exported_job";

  friend bool operator==(const LabelNames&, const LabelNames&) = default;
};

// Parses the name of a label. Fails if `text` is not a valid name.
[[nodiscard]] Result<std::string> parse_label(const std::string& text);

// The figures of a fleet. Each figure has its own query.
enum class Figure : std::size_t {
  up,
  down,
  devices,
  used,
  dram_known,
  capacity,
  capacity_known,
  l1_used,
  l1_known,
  dram_fill,
  dram_fill_capacity,
  l1_fill,
  l1_fill_capacity,
  estimates,
  headroom,
  dram_left,
  complete,
  warnings,
  users,
  processes,
  untracked,
  died,
  held,
  job_held,
  job_processes,
  job_headroom,
};
inline constexpr std::size_t kFigureCount = 26;

// The queries of a figure. `rule` reads a recording rule of
// packaging/deploy/prometheus/ttmem-fleet.rules.yml and costs almost nothing. `plain` computes the
// figure from the metrics.
struct Query {
  std::string rule{};  // empty: no rule has this figure
  std::string plain;
};
[[nodiscard]] Query query_for(Figure figure, const LabelNames& labels);

// Returns the request target "/api/v1/query?query=..." for a query.
[[nodiscard]] std::string target_of(std::string_view query);

}  // namespace ttmem::fleet
