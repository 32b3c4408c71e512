// SPDX-License-Identifier: Apache-2.0
//
// From the answers of a Prometheus to hosts. Whoever wrote them: what cannot be is unknown. Pure,
// safe from any thread.
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

// One series at one moment.
struct PrometheusSample {
  std::map<std::string, std::string> labels;
  double value = 0;
};
using Samples = std::vector<PrometheusSample>;

// The answer to an instant query. Fails when it is none, or says that the query failed.
[[nodiscard]] remote::Answer<Samples> read_samples(std::string_view json);

// Why targets do not answer, by the label `host`, from /api/v1/targets; empty when it does not say.
[[nodiscard]] std::map<std::string, std::string> read_target_errors(std::string_view json,
                                                                    const std::string& host);

// The answers to all queries. One that was refused has no samples, and says nothing; one that was
// answered without a sample of a host says that this host has none.
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

// Hosts that answer, then those that do not. A figure whose query was refused is unknown of every
// host, and sums that need it are "at least". `why` has the reasons of the latter, as far as they
// are known. Headroom of a job is not by host: see job_headrooms().
[[nodiscard]] std::vector<Host> hosts_of(const Figures& figures, const LabelNames& labels,
                                         const std::map<std::string, std::string>& why);

// The least room on any device of a job.
[[nodiscard]] std::map<std::string, std::int64_t> job_headrooms(const Figures& figures,
                                                                const LabelNames& labels);

}  // namespace ttmem::fleet
