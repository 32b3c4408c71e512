// SPDX-License-Identifier: Apache-2.0
#include "show/fleet/host_of.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/shorten.hpp"
#include "text/format.hpp"

namespace ttmem::fleet {
namespace {

using model::Bytes;
using model::Device;
using model::Process;
using model::State;

constexpr std::size_t kMaxWarnings = 10;

std::optional<std::int64_t> left_of(Bytes used, Bytes capacity) {
  if (!used || !capacity) return std::nullopt;
  return static_cast<std::int64_t>(*capacity) - static_cast<std::int64_t>(*used);
}

// Returns the Total L1 of a process, computed like the Total L1 of a device. Returns the sum of the
// reported parts, or nullopt if L1 buffers are not reported.
Bytes l1_of(const Process& process) {
  if (!process.used(Kind::l1)) return std::nullopt;
  std::uint64_t sum = 0;
  for (const Kind kind : {Kind::l1, Kind::l1_small, Kind::cb, Kind::kernel}) {
    sum = saturating_add(sum, process.used(kind).value_or(0));
  }
  return sum;
}

bool has_estimate(Bytes kernels, std::optional<bool> cbs) {
  return kernels.value_or(0) > 0 || cbs.value_or(false);
}

void add_process(const Process& process, const Device& device, const std::string& where,
                 JobShare& share) {
  share.headroom.add(device.headroom_bytes_per_core, where);
  const bool holds_nothing = !process.not_tracked.empty() && !process.may_hold;
  if (holds_nothing) return;
  share.dram.add(process.used(Kind::dram));
  share.l1.add(l1_of(process));
  share.l1.estimate =
      share.l1.estimate || has_estimate(process.kernels_estimated_bytes, process.cb_estimate);
  share.trace.add(process.used(Kind::trace));
  for (Sum* sum : {&share.dram, &share.l1, &share.trace}) {
    sum->complete = sum->complete && device.complete;
  }
}

void add_device(const Device& device, const std::string& where, Host& host) {
  host.dram_used.add(device.used(Kind::dram));
  host.dram_capacity.add(device.dram_capacity_bytes);
  host.l1_used.add(device.l1_used_bytes);
  host.l1_capacity.add(device.l1_capacity_bytes);
  host.dram_fill.add(device.used(Kind::dram), device.dram_capacity_bytes);
  host.l1_fill.add(device.l1_used_bytes, device.l1_capacity_bytes);
  host.l1_used.estimate =
      host.l1_used.estimate || has_estimate(device.kernels_estimated_bytes, device.cb_estimate);
  const bool all_seen = device.complete && untracked_processes(device) == 0;
  host.dram_used.complete = host.dram_used.complete && all_seen;
  host.l1_used.complete = host.l1_used.complete && all_seen;
  host.dram_left.add(left_of(device.used(Kind::dram), device.dram_capacity_bytes), where);
  host.headroom.add(device.headroom_bytes_per_core, where);
}

// Counts the processes of a host. A process on several devices counts once.
class Processes {
 public:
  void add(const Process& process, const Device& device, const std::string& where) {
    const bool first = seen_.insert(model::key_of(process)).second;
    if (process.state == State::dead) {
      dead_ += first ? 1 : 0;
      return;
    }
    const std::string job = brief(text::format_job(process.job));
    const auto [at, is_new] = jobs_.try_emplace(job);
    JobShare& share = at->second;
    if (is_new) share.job = job;
    if (first) {
      ++share.processes;
      ++living_;
      if (!process.not_tracked.empty() && process.may_hold) ++untracked_;
    }
    add_process(process, device, where, share);
  }

  void move_to(Host& host) && {
    host.processes = living_;
    host.untracked = untracked_;
    host.dead = dead_;
    for (auto& [job, share] : jobs_) host.jobs.push_back(std::move(share));
    for (const model::ProcessKey& key : seen_) {
      if (key.segment == 0) continue;
      host.process_keys.push_back(fmt::format("{} {} {}", key.pid, key.segment, host.name));
    }
  }

 private:
  std::set<model::ProcessKey> seen_;
  std::map<std::string, JobShare> jobs_;
  std::uint64_t living_ = 0;
  std::uint64_t untracked_ = 0;
  std::uint64_t dead_ = 0;
};

}  // namespace

std::string brief(std::string_view text) { return shortened(text, 256); }

Host host_of(std::string address, const model::Snapshot& snapshot,
             std::optional<std::uint64_t> died) {
  Host host;
  host.address = std::move(address);
  host.name = brief(snapshot.host);
  host.devices = snapshot.devices.size();
  host.died = died;
  host.complete = snapshot.complete();
  host.warning_count = snapshot.warnings.size();
  for (const std::string& warning : snapshot.warnings) {
    if (host.warnings.size() < kMaxWarnings) host.warnings.push_back(brief(warning));
  }
  Processes processes;
  for (const Device& device : snapshot.devices) {
    const std::string where = text::format_device_briefly(device);
    add_device(device, where, host);
    if (!device.complete) host.complete = false;
    if (device.uid) host.chip_keys.push_back(fmt::format("{:#x} {}", *device.uid, host.name));
    for (const Process& process : device.processes) processes.add(process, device, where);
  }
  std::move(processes).move_to(host);
  if (host.complete == true) return host;
  for (Sum* sum : {&host.dram_used, &host.l1_used}) sum->complete = false;
  return host;
}

}  // namespace ttmem::fleet
