// SPDX-License-Identifier: Apache-2.0
//
// What a Prometheus is asked for a table of hosts. Pure, safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ttmem::fleet {

// The labels that a Prometheus has for hosts and for jobs of a batch system: with the usual scrape
// configuration its own label `job` displaces ours (docs/reference/jobs.md).
struct LabelNames {
  std::string host = "instance";
  std::string job = "exported_job";

  friend bool operator==(const LabelNames&, const LabelNames&) = default;
};

// Fails when it is no name of a label.
[[nodiscard]] Result<std::string> parse_label(const std::string& text);

// The figures that are asked for, each with a query of its own.
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

// A figure is a recording rule of packaging/deploy/prometheus/ttmem-fleet.rules.yml where there is
// one, which costs next to nothing, or else made of the metrics themselves.
struct Query {
  std::string rule{};  // empty: there is none
  std::string plain;
};
[[nodiscard]] Query query_for(Figure figure, const LabelNames& labels);

// "/api/v1/query?query=..."
[[nodiscard]] std::string target_of(std::string_view query);

}  // namespace ttmem::fleet
