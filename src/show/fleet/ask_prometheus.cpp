// SPDX-License-Identifier: Apache-2.0
#include "show/fleet/ask_prometheus.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "show/fleet/prometheus_hosts.hpp"

namespace ttmem::fleet {
namespace {

using remote::Answer;
using remote::Fault;

class Questions {
 public:
  Questions(const remote::Address& server, LabelNames labels, const remote::ClientOptions& options)
      : server_(server), labels_(std::move(labels)), client_(options) {}

  // Asks for every figure: by its recording rule, or by its plain query if it has no rule. Then
  // sends the plain queries of the figures whose rule had no samples. If hosts are down, also asks
  // for the reasons.
  void ask_all() {
    for (std::size_t i = 0; i < kFigureCount; ++i) {
      const auto figure = static_cast<Figure>(i);
      const Query query = query_for(figure, labels_);
      ask(figure, query.rule.empty() ? query.plain : query.rule);
    }
    client_.run();
    for (std::size_t i = 0; i < kFigureCount; ++i) {
      const auto figure = static_cast<Figure>(i);
      const Query query = query_for(figure, labels_);
      const bool no_rule = !query.rule.empty() && !faults_[i] && figures_.of(figure).empty();
      if (no_rule) ask(figure, query.plain);
    }
    if (!figures_.of(Figure::down).empty()) ask_target_errors();
    client_.run();
  }

  // Returns the fault of the query for Figure::up, without which no host is known. Returns nullopt
  // if that query was answered.
  [[nodiscard]] std::optional<Fault> failure() const {
    return faults_[static_cast<std::size_t>(Figure::up)];
  }
  [[nodiscard]] std::vector<Host> hosts() const { return hosts_of(figures_, labels_, why_); }
  [[nodiscard]] std::map<std::string, std::int64_t> headrooms() const {
    return job_headrooms(figures_, labels_);
  }

  // Returns a warning for each query that failed.
  [[nodiscard]] std::vector<std::string> warnings() const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < kFigureCount; ++i) {
      if (!faults_[i]) continue;
      all.push_back(fmt::format("{} does not answer {}: {}; what it is for is unknown",
                                server_.url(), query_for(static_cast<Figure>(i), labels_).plain,
                                faults_[i]->reason));
    }
    return all;
  }

 private:
  void ask(Figure figure, const std::string& query) {
    client_.get(server_, target_of(query), remote::kMaxFigureBytes,
                [this, figure](const Answer<std::string>& answer) { take(answer, figure); });
  }

  void take(const Answer<std::string>& answer, Figure figure) {
    Answer<Samples> samples =
        answer.failed ? Answer<Samples>(answer.fault) : read_samples(answer.value);
    if (samples.failed) {
      faults_[static_cast<std::size_t>(figure)] = std::move(samples.fault);
      figures_.refuse(figure);
    } else {
      figures_.of(figure) = std::move(samples.value);
    }
  }

  void ask_target_errors() {
    client_.get(server_, "/api/v1/targets?state=active", remote::kMaxFigureBytes,
                [this](const Answer<std::string>& answer) {
                  if (!answer.failed) why_ = read_target_errors(answer.value, labels_.host);
                });
  }

  const remote::Address& server_;
  const LabelNames labels_;
  remote::HttpClient client_;
  Figures figures_{};
  std::array<std::optional<Fault>, kFigureCount> faults_{};
  std::map<std::string, std::string> why_;
};

std::string next_step(const Fault& fault) {
  switch (fault.kind) {
    case Fault::Kind::unreachable:
    case Fault::Kind::not_ttmem:
      return "check the address and the port (9090 unless it was started with another)";
    case Fault::Kind::too_large:
      return "ask the hosts themselves with --server";
    default:
      return fault.next_step;
  }
}

}  // namespace

Result<Fleet> ask_prometheus(const remote::Address& server, const LabelNames& labels,
                             const remote::ClientOptions& options, Order order) {
  Questions questions(server, labels, options);
  questions.ask_all();
  if (const auto fault = questions.failure()) {
    return Error{
        fmt::format("cannot ask {}: {}; {}", server.url(), fault->reason, next_step(*fault))};
  }
  std::vector<Host> hosts = questions.hosts();
  if (hosts.empty()) {
    return Error{
        fmt::format("{} knows no host with the label {}; let it scrape the servers "
                    "(packaging/deploy/prometheus/prometheus.yml), or name the label of hosts with "
                    "--host-label",
                    server.url(), labels.host)};
  }
  Fleet fleet = sum_up(std::move(hosts), order, questions.warnings());
  const auto rooms = questions.headrooms();
  for (FleetJob& job : fleet.jobs) {
    const auto room = rooms.find(job.job);
    if (room != rooms.end()) job.headroom.bytes = room->second;
  }
  fleet.prometheus = server.url();
  return fleet;
}

}  // namespace ttmem::fleet
