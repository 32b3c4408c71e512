// SPDX-License-Identifier: Apache-2.0
//
// Figures of many hosts at one moment. The figures are plain values. They come from the answers of
// servers or of a Prometheus, and the views read them. No clock, no I/O. An empty optional
// means unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/saturating.hpp"
#include "read/model/snapshot.hpp"
#include "read/remote/fault.hpp"

namespace ttmem::fleet {

// A sum over devices, processes or hosts.
struct Sum {
  model::Bytes bytes{};   // sum of the known parts; nullopt: no part is known
  bool complete = true;   // false: a part is unknown, and the sum is a lower bound
  bool estimate = false;  // at least one part is an estimate

  void add(model::Bytes part) {
    if (part) {
      bytes = saturating_add(bytes.value_or(0), *part);
    } else {
      complete = false;
    }
  }
  // Adds another sum. A sum without known parts adds no bytes.
  void add(const Sum& part) {
    if (part.bytes) bytes = saturating_add(bytes.value_or(0), *part.bytes);
    complete = complete && part.complete;
    estimate = estimate || part.estimate;
  }
};

// The used share of a memory. Only devices with known use and known capacity count, so that both
// sums are over the same devices.
struct Fill {
  std::uint64_t used_bytes = 0;
  std::uint64_t capacity_bytes = 0;

  void add(model::Bytes used, model::Bytes capacity) {
    if (!used || !capacity) return;
    used_bytes = saturating_add(used_bytes, *used);
    capacity_bytes = saturating_add(capacity_bytes, *capacity);
  }
  void add(const Fill& part) { add(part.used_bytes, part.capacity_bytes); }

  // Returns the share, or nullopt if no device has both known use and known capacity.
  [[nodiscard]] std::optional<double> share() const {
    if (capacity_bytes == 0) return std::nullopt;
    return static_cast<double>(used_bytes) / static_cast<double>(capacity_bytes);
  }
};

// A number of devices or processes on all hosts.
struct Count {
  // The sum over the hosts that report the number. nullopt: no host reports the number.
  std::optional<std::uint64_t> count{};
  // False if a host does not report the number; `count` is then a lower bound.
  bool complete = true;

  void add(std::optional<std::uint64_t> part) {
    if (part) {
      count = saturating_add(count.value_or(0), *part);
    } else {
      complete = false;
    }
  }
};

// The least value of a figure, and the device with this value.
struct Least {
  std::optional<std::int64_t> bytes{};
  std::string device{};  // in the form that --device accepts; empty: unknown

  void add(std::optional<std::int64_t> other, const std::string& of) {
    if (!other || (bytes && *bytes <= *other)) return;
    bytes = other;
    device = of;
  }
};

// The living processes of one job on one host.
struct JobShare {
  std::string job;  // name by text::format_job(); empty: processes without a job
  std::uint64_t processes = 0;
  Sum dram{};
  Sum l1{};  // L1 buffers, L1_SMALL, circular buffers and kernels
  Sum trace{};
  Least headroom{};  // least headroom of a core on the devices that the job uses
};

struct Host {
  // Name used by the user: "node7", "node7:9500", or an instance of Prometheus.
  std::string address;
  std::string name{};  // the host's own name; empty: unknown
  // Reason why the figures below are missing; nullopt: there are figures.
  std::optional<remote::Fault> fault{};

  std::optional<std::uint64_t> devices{};
  Sum dram_used{};
  Sum dram_capacity{};
  Sum l1_used{};
  Sum l1_capacity{};
  Fill dram_fill{};
  Fill l1_fill{};
  Least dram_left{};  // least free DRAM of a device
  Least headroom{};   // least headroom of a core on all devices

  std::optional<std::uint64_t> processes{};  // living processes
  // Living processes that report nothing and may hold memory.
  std::optional<std::uint64_t> untracked{};
  std::optional<std::uint64_t> dead{};  // dead processes whose segments are still there
  // Number of processes that died while they held memory, since the server started
  std::optional<std::uint64_t> died{};
  std::optional<bool> complete = true;  // false: something on the host could not be read
  std::optional<std::uint64_t> warning_count{};
  std::vector<std::string> warnings{};  // the first warnings; empty if only their number is known

  bool jobs_known = true;  // false: the processes, or the bytes that they hold, are unknown
  std::vector<JobShare> jobs{};
  // One key for each process. All other processes on machines with this name have other keys. Two
  // hosts with a common key are therefore the same machine.
  std::vector<std::string> process_keys{};
  // One key for each chip whose uid is known. All other chips on machines with this name have other
  // keys.
  std::vector<std::string> chip_keys{};
};

// One job on all hosts.
struct FleetJob {
  std::string job;  // empty: processes without a job
  std::uint64_t hosts = 0;
  std::uint64_t processes = 0;
  Sum dram{};
  Sum l1{};
  Sum trace{};
  Least headroom{};
  std::string headroom_host{};  // host of the device in `headroom`; empty: unknown
};

struct Total {
  std::uint64_t answered = 0;  // number of hosts that answered
  Count devices{};             // this field and all following fields are sums over these hosts
  Count processes{};
  Sum dram_used{};
  Sum dram_capacity{};
  Sum l1_used{};
  Sum l1_capacity{};
  Fill dram_fill{};
  Fill l1_fill{};
};

struct Fleet {
  std::uint64_t time_unix_ns = 0;
  std::string host{};  // name of the host that collected the figures
  // URL of the Prometheus that was asked; empty: the hosts were asked directly.
  std::string prometheus{};
  std::vector<Host> hosts{};     // in the chosen order; hosts without an answer at the end
  std::vector<FleetJob> jobs{};  // largest first; processes without a job at the end
  Total total{};
  // Complete sentences, about hosts without an answer and other problems.
  std::vector<std::string> warnings{};
  std::vector<std::string> unread{};   // the warnings about parts that are missing in sums
  std::vector<std::string> refused{};  // the warnings about queries that a Prometheus refused

  // Returns false if a part is missing. Sums are then lower bounds.
  [[nodiscard]] bool complete() const { return unread.empty(); }
};

}  // namespace ttmem::fleet
