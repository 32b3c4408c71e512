// SPDX-License-Identifier: Apache-2.0
#include "show/fleet/prometheus_hosts.hpp"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/parse_number.hpp"
#include "read/remote/json_value.hpp"
#include "show/fleet/host_of.hpp"

namespace ttmem::fleet {
namespace {

using remote::Fault;
using remote::Json;
using remote::member;
using remote::text_in;
using remote::text_of;

// Refuses larger values, so that sums cannot overflow. read/remote/read_device.cpp has the same
// limit.
constexpr double kMaxBytes = 72057594037927936.0;  // 2^56

Fault not_prometheus() {
  return {Fault::Kind::not_ttmem, "what answers there is not Prometheus",
          "check the address and the port (9090 unless it was started with another)"};
}

std::optional<PrometheusSample> sample_in(const Json& json) {
  const Json& value = member(json, "value");
  const Json& labels = member(json, "metric");
  if (!value.is_array() || value.size() != 2 || !labels.is_object()) return std::nullopt;
  const auto number = parse_number<double>(text_in(value[1]));
  if (!number || !std::isfinite(*number)) return std::nullopt;
  PrometheusSample sample;
  sample.value = *number;
  for (const auto& [name, label] : labels.items()) {
    if (label.is_string()) sample.labels[name] = brief(label.get_ref<const std::string&>());
  }
  return sample;
}

std::string label_of(const PrometheusSample& sample, const std::string& name) {
  const auto found = sample.labels.find(name);
  return found == sample.labels.end() ? std::string() : found->second;
}

std::optional<std::uint64_t> count_of(double value) {
  if (value < 0 || value > kMaxBytes) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

std::optional<std::int64_t> room_of(double value) {
  if (std::abs(value) > kMaxBytes) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

// Returns the figure with the device number. A uid is not needed, because the answer names only one
// device of each host.
Least least_of(const PrometheusSample& sample) {
  return {room_of(sample.value), label_of(sample, "device")};
}

// Returns "node7" for "node7:9488". `ttmem fleet` shows the same name if it asks the host directly.
std::string without_usual_port(const std::string& instance) {
  constexpr std::string_view usual = ":9488";
  const bool v6 = instance.starts_with('[');
  if (v6 || !instance.ends_with(usual)) return instance;
  return instance.substr(0, instance.size() - usual.size());
}

// The values of a figure by host, rounded down to whole numbers.
struct HostCounts {
  std::map<std::string, std::uint64_t> by_host{};
  bool answered = true;  // false: the query was refused

  // Returns the number of a host, or nullopt if the host has no sample.
  [[nodiscard]] std::optional<std::uint64_t> at(const std::string& host) const {
    const auto found = by_host.find(host);
    return found == by_host.end() ? std::nullopt : std::optional(found->second);
  }
  // Returns the number of a host, or 0 if the host has no sample. For figures that have no sample
  // when nothing is counted. Returns nullopt if the query was refused.
  [[nodiscard]] std::optional<std::uint64_t> or_zero(const std::string& host) const {
    return answered ? at(host).value_or(0) : std::optional<std::uint64_t>();
  }
};

// Groups the samples of a figure by host. Ignores samples without the label of the host.
class ByHost {
 public:
  ByHost(const Figures& figures, const LabelNames& labels) : figures_(figures), labels_(labels) {}

  [[nodiscard]] bool answered(Figure figure) const { return figures_.answered(figure); }

  template <typename Take>
  void each(Figure figure, Take&& take) const {
    for (const PrometheusSample& sample : figures_.of(figure)) {
      const std::string host = label_of(sample, labels_.host);
      if (!host.empty()) take(host, sample);
    }
  }

  // Returns one number per host.
  [[nodiscard]] HostCounts counts(Figure figure) const {
    return counts(figure, [](const PrometheusSample&) { return true; });
  }
  // Returns one number per host, from the samples in which `label` has the given value.
  [[nodiscard]] HostCounts counts(Figure figure, const char* label, std::string_view value) const {
    return counts(figure,
                  [&](const PrometheusSample& sample) { return label_of(sample, label) == value; });
  }

 private:
  template <typename Choose>
  [[nodiscard]] HostCounts counts(Figure figure, Choose&& chosen) const {
    HostCounts all;
    all.answered = answered(figure);
    each(figure, [&](const std::string& host, const PrometheusSample& sample) {
      const auto count = count_of(sample.value);
      if (count && chosen(sample)) all.by_host[host] = *count;
    });
    return all;
  }

  const Figures& figures_;
  const LabelNames& labels_;
};

using Hosts = std::map<std::string, Host>;  // key: the label of the host

// Returns `bytes`, the sum over `known` of the `devices` devices. The sum is complete if all
// devices are known.
Sum sum_of(model::Bytes bytes, std::optional<std::uint64_t> known,
           std::optional<std::uint64_t> devices) {
  Sum sum{bytes};
  sum.complete = known && devices && *known >= *devices;
  return sum;
}

void add_memory(const ByHost& by, Hosts& hosts) {
  const auto dram = by.counts(Figure::used, "kind", "dram");
  const auto dram_known = by.counts(Figure::dram_known);
  const auto dram_capacity = by.counts(Figure::capacity, "memory", "dram");
  const auto l1_capacity = by.counts(Figure::capacity, "memory", "l1");
  const auto dram_capacity_known = by.counts(Figure::capacity_known, "memory", "dram");
  const auto l1_capacity_known = by.counts(Figure::capacity_known, "memory", "l1");
  const auto l1 = by.counts(Figure::l1_used);
  const auto l1_known = by.counts(Figure::l1_known);
  for (auto& [name, host] : hosts) {
    const auto sum = [&, of = name, devices = host.devices](const HostCounts& bytes,
                                                            const HostCounts& known) {
      return sum_of(bytes.at(of), known.or_zero(of), devices);
    };
    host.dram_used = sum(dram, dram_known);
    host.dram_capacity = sum(dram_capacity, dram_capacity_known);
    host.l1_used = sum(l1, l1_known);
    host.l1_capacity = sum(l1_capacity, l1_capacity_known);
    // If the query for estimates was refused, nobody knows which L1 figures contain estimates. All
    // of them are then marked as estimates.
    host.l1_used.estimate = host.l1_used.bytes && !by.answered(Figure::estimates);
  }
  by.each(Figure::estimates, [&](const std::string& host, const PrometheusSample&) {
    if (hosts.contains(host)) hosts[host].l1_used.estimate = true;
  });
}

// Adds the used shares. A share needs both the used bytes and the capacity.
void add_fill(const ByHost& by, Hosts& hosts) {
  const HostCounts dram = by.counts(Figure::dram_fill);
  const HostCounts dram_capacity = by.counts(Figure::dram_fill_capacity);
  const HostCounts l1 = by.counts(Figure::l1_fill);
  const HostCounts l1_capacity = by.counts(Figure::l1_fill_capacity);
  for (auto& [name, host] : hosts) {
    host.dram_fill.add(dram.at(name), dram_capacity.at(name));
    host.l1_fill.add(l1.at(name), l1_capacity.at(name));
  }
}

void add_least(const ByHost& by, Hosts& hosts) {
  by.each(Figure::headroom, [&](const std::string& host, const PrometheusSample& sample) {
    if (hosts.contains(host)) hosts[host].headroom = least_of(sample);
  });
  by.each(Figure::dram_left, [&](const std::string& host, const PrometheusSample& sample) {
    if (hosts.contains(host)) hosts[host].dram_left = least_of(sample);
  });
}

void add_states(const ByHost& by, Hosts& hosts) {
  const auto complete = by.counts(Figure::complete);
  const auto warnings = by.counts(Figure::warnings);
  const auto users = by.counts(Figure::users);
  const auto processes = by.counts(Figure::processes);
  const auto untracked = by.counts(Figure::untracked);
  const auto died = by.counts(Figure::died);
  for (auto& [name, host] : hosts) {
    if (const auto all_read = complete.at(name)) {
      host.complete = *all_read != 0;
    } else if (!complete.answered) {
      host.complete = std::nullopt;
    }
    host.warning_count = warnings.at(name);
    // A host without a sample has no processes, or does not name its processes. The number is 0 in
    // the first case and unknown in the second case.
    host.processes = processes.at(name);
    if (!host.processes && processes.answered && users.or_zero(name) == 0) host.processes = 0;
    // Counts 0 for a host without a sample, because the metric exists only for chips that the
    // driver shows.
    host.untracked = untracked.or_zero(name);
    host.died = died.at(name);
    const bool all_seen = host.complete == true && host.untracked == 0;
    for (Sum* sum : {&host.dram_used, &host.l1_used}) sum->complete = sum->complete && all_seen;
  }
}

void add_kind(std::string_view kind, std::uint64_t bytes, JobShare& share) {
  if (kind == "dram") {
    share.dram.add(bytes);
  } else if (kind == "trace") {
    share.trace.add(bytes);
  } else if (kind == "l1" || kind == "l1_small" || kind == "cb" || kind == "kernel") {
    share.l1.add(bytes);
  }
}

using Shares = std::map<std::string, JobShare>;  // key: the job

std::map<std::string, Shares> shares_of(const ByHost& by, const LabelNames& labels) {
  std::map<std::string, Shares> shares;
  by.each(Figure::job_processes, [&](const std::string& host, const PrometheusSample& sample) {
    const std::string job = label_of(sample, labels.job);
    if (job.empty()) return;
    JobShare& share = shares[host][job];
    share.job = job;
    share.processes = count_of(sample.value).value_or(0);
  });
  by.each(Figure::job_held, [&](const std::string& host, const PrometheusSample& sample) {
    const auto of_host = shares.find(host);
    if (of_host == shares.end()) return;
    const auto share = of_host->second.find(label_of(sample, labels.job));
    const auto bytes = count_of(sample.value);
    if (share == of_host->second.end() || !bytes) return;
    add_kind(label_of(sample, "kind"), *bytes, share->second);
  });
  return shares;
}

void mark_incomplete(JobShare& share) {
  for (Sum* sum : {&share.dram, &share.l1, &share.trace}) sum->complete = false;
}

Sum minus_jobs(const Sum& all, const Shares& shares, Sum JobShare::*figure) {
  Sum rest = all;
  for (const auto& [job, share] : shares) {
    if (rest.bytes) *rest.bytes -= std::min(*rest.bytes, (share.*figure).bytes.value_or(0));
  }
  return rest;
}

// Adds the jobs of each host. The processes without a job hold the rest: the bytes of all processes
// minus the bytes of all jobs. The rest is known only if the queries for held, job_held and
// job_processes were all answered.
void add_jobs(const ByHost& by, const LabelNames& labels, Hosts& hosts) {
  std::map<std::string, JobShare> held;
  by.each(Figure::held, [&](const std::string& host, const PrometheusSample& sample) {
    const auto bytes = count_of(sample.value);
    if (bytes) add_kind(label_of(sample, "kind"), *bytes, held[host]);
  });
  const std::map<std::string, Shares> shares = shares_of(by, labels);
  const bool rest_known = by.answered(Figure::held) && by.answered(Figure::job_held) &&
                          by.answered(Figure::job_processes);
  for (auto& [name, host] : hosts) {
    const auto found = shares.find(name);
    const Shares& of_host = found == shares.end() ? Shares() : found->second;
    std::uint64_t rest = host.processes.value_or(0);
    for (const auto& [job, share] : of_host) {
      rest -= std::min(rest, share.processes);
      host.jobs.push_back(share);
    }
    host.jobs_known = host.processes && rest_known;
    if (rest > 0 && rest_known) {
      const JobShare& all = held[name];
      host.jobs.push_back({"", rest, minus_jobs(all.dram, of_host, &JobShare::dram),
                           minus_jobs(all.l1, of_host, &JobShare::l1),
                           minus_jobs(all.trace, of_host, &JobShare::trace)});
    }
    if (host.untracked == 0 && by.answered(Figure::job_held)) continue;
    for (JobShare& share : host.jobs) mark_incomplete(share);
  }
}

Host without_answer(const std::string& name, const std::map<std::string, std::string>& why) {
  Host host;
  host.address = without_usual_port(name);
  const auto reason = why.find(name);
  const bool known = reason != why.end() && !reason->second.empty();
  host.fault = Fault{Fault::Kind::unreachable,
                     known ? "Prometheus says: " + reason->second : "Prometheus cannot read it",
                     "start `ttmem serve` there, and see the targets of Prometheus"};
  return host;
}

}  // namespace

remote::Answer<Samples> read_samples(std::string_view json) {
  const Json document = Json::parse(json, nullptr, false);
  if (text_of(document, "status") == "error") {
    return Fault{Fault::Kind::failed, brief(text_of(document, "error")), "see its log"};
  }
  const Json& result = member(member(document, "data"), "result");
  if (text_of(document, "status") != "success" || !result.is_array()) return not_prometheus();
  return remote::list_in(result, sample_in);
}

std::map<std::string, std::string> read_target_errors(std::string_view json,
                                                      const std::string& host) {
  const Json document = Json::parse(json, nullptr, false);
  std::map<std::string, std::string> errors;
  const Json& targets = member(member(document, "data"), "activeTargets");
  if (!targets.is_array()) return errors;
  for (const Json& target : targets) {
    const std::string error = text_of(target, "lastError");
    if (error.empty()) continue;
    errors[brief(text_of(member(target, "labels"), host.c_str()))] = brief(error);
  }
  return errors;
}

std::vector<Host> hosts_of(const Figures& figures, const LabelNames& labels,
                           const std::map<std::string, std::string>& why) {
  const ByHost by(figures, labels);
  Hosts hosts;
  const auto devices = by.counts(Figure::devices);
  by.each(Figure::up, [&](const std::string& name, const PrometheusSample&) {
    Host& host = hosts[name];
    host.address = without_usual_port(name);
    host.devices = devices.or_zero(name);
  });
  add_memory(by, hosts);
  add_fill(by, hosts);
  add_least(by, hosts);
  add_states(by, hosts);
  add_jobs(by, labels, hosts);
  std::vector<Host> all;
  for (auto& [name, host] : hosts) all.push_back(std::move(host));
  by.each(Figure::down, [&](const std::string& name, const PrometheusSample&) {
    if (!hosts.contains(name)) all.push_back(without_answer(name, why));
  });
  return all;
}

std::map<std::string, std::int64_t> job_headrooms(const Figures& figures,
                                                  const LabelNames& labels) {
  std::map<std::string, std::int64_t> rooms;
  for (const PrometheusSample& sample : figures.of(Figure::job_headroom)) {
    const std::string job = label_of(sample, labels.job);
    const auto room = room_of(sample.value);
    if (!job.empty() && room) rooms[job] = *room;
  }
  return rooms;
}

}  // namespace ttmem::fleet
