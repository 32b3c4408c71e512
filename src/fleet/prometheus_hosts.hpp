// SPDX-License-Identifier: Apache-2.0
//
// From the answers of a Prometheus to hosts. Whoever wrote them: what cannot be is unknown. Pure,
// safe from any thread.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/fleet.hpp"
#include "fleet/promql.hpp"
#include "remote/fault.hpp"

namespace ttmem::fleet {

// One series at one moment.
struct Sample {
  std::map<std::string, std::string> labels;
  double value = 0;
};
using Samples = std::vector<Sample>;

// The answer to an instant query. Fails when it is none, or says that the query failed.
[[nodiscard]] remote::Answer<Samples> read_samples(std::string_view json);

// Why targets do not answer, by the label `host`, from /api/v1/targets; empty when it does not say.
[[nodiscard]] std::map<std::string, std::string> read_target_errors(std::string_view json,
                                                                    const std::string& host);

// By Figure.
using Figures = std::array<Samples, kFigureCount>;

// Hosts that answer, then those that do not. `why` has the reasons of the latter, as far as they
// are known. Headroom of a job is not by host: see job_headrooms().
[[nodiscard]] std::vector<Host> hosts_of(const Figures& figures, const Labels& labels,
                                         const std::map<std::string, std::string>& why);

// The least room on any device of a job.
[[nodiscard]] std::map<std::string, std::int64_t> job_headrooms(const Figures& figures,
                                                                const Labels& labels);

}  // namespace ttmem::fleet
