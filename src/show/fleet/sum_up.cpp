// SPDX-License-Identifier: Apache-2.0
#include "show/fleet/sum_up.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace ttmem::fleet {
namespace {

// Returns a sort key that sorts known values in ascending order, and unknown values after all known
// values.
template <typename Value>
std::pair<bool, Value> last_if_unknown(const std::optional<Value>& value) {
  return {!value.has_value(), value.value_or(Value())};
}

std::optional<double> negative(std::optional<double> value) {
  return value ? std::optional(-*value) : std::nullopt;
}

// Returns a sort key that puts "node2" before "node10".
std::tuple<std::string, std::size_t, std::string> natural(const std::string& name) {
  const std::size_t end = std::min(name.find_last_not_of("0123456789") + 1, name.size());
  return {name.substr(0, end), name.size(), name};
}

bool before(const Host& a, const Host& b, Order order) {
  if (a.fault.has_value() != b.fault.has_value()) return b.fault.has_value();
  const auto key = [&](const Host& host) -> std::pair<bool, double> {
    switch (order) {
      case Order::dram:
        return last_if_unknown(negative(host.dram_fill.share()));
      case Order::l1:
        return last_if_unknown(negative(host.l1_fill.share()));
      case Order::processes:
        return {!host.processes, -static_cast<double>(host.processes.value_or(0))};
      case Order::headroom:
        return {!host.headroom.bytes, static_cast<double>(host.headroom.bytes.value_or(0))};
      case Order::host:
        break;
    }
    return {};
  };
  const auto all = [&](const Host& host) {
    return std::tuple(key(host),
                      last_if_unknown(order == Order::host ? std::nullopt : host.dram_left.bytes),
                      natural(host.address));
  };
  return all(a) < all(b);
}

// Address of the host that has a process or chip, by the key of the process or chip.
using Addresses = std::unordered_map<std::string, std::string>;

// If another host has one of the keys, replaces the figures of `host` by a fault, so that no
// machine counts twice. Otherwise adds the keys to `known`.
void count_once(Host& host, const std::vector<std::string>& keys, Addresses& known) {
  const auto same = std::find_if(keys.begin(), keys.end(),
                                 [&](const std::string& key) { return known.contains(key); });
  if (same == keys.end()) {
    for (const std::string& key : keys) known.emplace(key, host.address);
    return;
  }
  Host twice;
  twice.fault = remote::Fault{remote::Fault::Kind::twice,
                              fmt::format("it is the machine that {} names too", known[*same]),
                              "name it once"};
  twice.address = std::move(host.address);
  twice.name = std::move(host.name);
  host = std::move(twice);
}

// Marks machines that answer under two names. Two hosts with a common process are the same machine.
// A host without processes is the same machine as another host if both have a common chip. If a
// host has processes of its own and a common chip, both hosts count, because the host may be a
// second server on the machine that reads another directory.
void mark_duplicates(std::vector<Host>& hosts) {
  Addresses by_process;
  Addresses by_chip;
  for (Host& host : hosts) {
    if (host.fault || host.process_keys.empty()) continue;
    count_once(host, host.process_keys, by_process);
    for (const std::string& key : host.chip_keys) by_chip.emplace(key, host.address);
  }
  for (Host& host : hosts) {
    if (!host.fault && host.process_keys.empty()) count_once(host, host.chip_keys, by_chip);
  }
}

void note(const Host& host, Fleet& fleet) {
  if (host.fault && host.fault->kind == remote::Fault::Kind::twice) {
    fleet.warnings.push_back(fmt::format("{} is not counted: {}; {}", host.address,
                                         host.fault->reason, host.fault->next_step));
  } else if (host.fault) {
    fleet.warnings.push_back(fmt::format("{} is not known: {}; {}", host.address,
                                         host.fault->reason, host.fault->next_step));
    fleet.unread.push_back(fleet.warnings.back());
  } else if (host.complete == false) {
    fleet.warnings.push_back(
        fmt::format("{} cannot read all that is there; `ttmem --server {}` says what", host.address,
                    host.address));
    fleet.unread.push_back(fleet.warnings.back());
  }
}

void add_to_total(const Host& host, Total& total) {
  if (host.fault) return;
  ++total.answered;
  total.devices.add(host.devices);
  total.processes.add(host.processes);
  total.dram_used.add(host.dram_used);
  total.dram_capacity.add(host.dram_capacity);
  total.l1_used.add(host.l1_used);
  total.l1_capacity.add(host.l1_capacity);
  total.dram_fill.add(host.dram_fill);
  total.l1_fill.add(host.l1_fill);
}

void add_to_job(const JobShare& share, const std::string& host, FleetJob& job) {
  job.job = share.job;
  ++job.hosts;
  job.processes += share.processes;
  job.dram.add(share.dram);
  job.l1.add(share.l1);
  job.trace.add(share.trace);
  if (!share.headroom.bytes || (job.headroom.bytes && *job.headroom.bytes <= *share.headroom.bytes))
    return;
  job.headroom = share.headroom;
  job.headroom_host = host;
}

std::vector<FleetJob> sum_by_job(const std::vector<Host>& hosts) {
  std::map<std::string, FleetJob> jobs;
  for (const Host& host : hosts) {
    if (host.fault) continue;
    for (const JobShare& share : host.jobs) add_to_job(share, host.address, jobs[share.job]);
  }
  std::vector<FleetJob> all;
  all.reserve(jobs.size());
  for (auto& [name, job] : jobs) all.push_back(std::move(job));
  std::stable_sort(all.begin(), all.end(), [](const FleetJob& a, const FleetJob& b) {
    if (a.job.empty() != b.job.empty()) return b.job.empty();
    const auto held = [](const FleetJob& job) {
      return saturating_add(job.dram.bytes.value_or(0), job.l1.bytes.value_or(0));
    };
    return held(a) > held(b);
  });
  return all;
}

void mark_incomplete(Fleet& fleet, bool jobs_known) {
  Total& total = fleet.total;
  if (!fleet.complete()) {
    for (Sum* sum : {&total.dram_used, &total.dram_capacity, &total.l1_used, &total.l1_capacity}) {
      sum->complete = false;
    }
  }
  if (fleet.complete() && jobs_known) return;
  for (FleetJob& job : fleet.jobs) {
    for (Sum* sum : {&job.dram, &job.l1, &job.trace}) sum->complete = false;
  }
}

}  // namespace

Result<Order> parse_order(std::string_view text) {
  const auto* const found = std::find(kOrderNames.begin(), kOrderNames.end(), text);
  if (found != kOrderNames.end()) return static_cast<Order>(found - kOrderNames.begin());
  return Error{fmt::format("must be one of {}", fmt::join(kOrderNames, ", "))};
}

Fleet sum_up(std::vector<Host> hosts, Order order, std::vector<std::string> refused) {
  Fleet fleet;
  mark_duplicates(hosts);
  std::stable_sort(hosts.begin(), hosts.end(),
                   [order](const Host& a, const Host& b) { return before(a, b, order); });
  bool jobs_known = true;
  for (const Host& host : hosts) {
    note(host, fleet);
    add_to_total(host, fleet.total);
    jobs_known = jobs_known && (host.fault || host.jobs_known);
  }
  fleet.jobs = sum_by_job(hosts);
  fleet.hosts = std::move(hosts);
  for (auto* const list : {&fleet.warnings, &fleet.unread}) {
    list->insert(list->end(), refused.begin(), refused.end());
  }
  fleet.refused = std::move(refused);
  mark_incomplete(fleet, jobs_known);
  return fleet;
}

}  // namespace ttmem::fleet
