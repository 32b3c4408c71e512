// SPDX-License-Identifier: Apache-2.0
//
// Converts the answers of a Prometheus into hosts. The answers are not trusted: impossible values
// become unknown. Pure, safe from any thread.
#pragma once

#include <array>
#include <bitset>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "read/remote/fault.hpp"
#include "show/fleet/fleet.hpp"
#include "show/fleet/promql.hpp"

namespace ttmem::fleet {

// The value of one series at one moment.
struct PrometheusSample {
  std::map<std::string, std::string> labels;
  double value = 0;
};
using Samples = std::vector<PrometheusSample>;

// Parses the answer to an instant query. Fails if `json` is not an answer to an instant query, or
// if it says that the query failed.
[[nodiscard]] remote::Answer<Samples> read_samples(std::string_view json);

// Returns why targets do not answer, from an answer of /api/v1/targets. The keys are the values of
// the label named `host`. Returns an empty map if the answer contains no reasons.
[[nodiscard]] std::map<std::string, std::string> read_target_errors(std::string_view json,
                                                                    const std::string& host);

// The answers to all queries. The figure of a refused query is unknown for all hosts. A host
// without a sample in an answered query does not have the figure.
class Figures {
 public:
  [[nodiscard]] Samples& of(Figure figure) { return samples_[static_cast<std::size_t>(figure)]; }
  [[nodiscard]] const Samples& of(Figure figure) const {
    return samples_[static_cast<std::size_t>(figure)];
  }
  void refuse(Figure figure) {
    of(figure).clear();
    refused_.set(static_cast<std::size_t>(figure));
  }
  [[nodiscard]] bool answered(Figure figure) const {
    return !refused_.test(static_cast<std::size_t>(figure));
  }

 private:
  std::array<Samples, kFigureCount> samples_{};
  std::bitset<kFigureCount> refused_{};
};

// Returns the hosts that answer, then the hosts that do not answer, with the reasons in `why` if
// known. The figure of a refused query is unknown for every host, and sums that need this figure
// are lower bounds. The headroom of a job is not per host: see job_headrooms().
[[nodiscard]] std::vector<Host> hosts_of(const Figures& figures, const LabelNames& labels,
                                         const std::map<std::string, std::string>& why);

// Returns the least headroom of each job over all its devices.
[[nodiscard]] std::map<std::string, std::int64_t> job_headrooms(const Figures& figures,
                                                                const LabelNames& labels);

}  // namespace ttmem::fleet
