// SPDX-License-Identifier: Apache-2.0
//
// Many hosts at one moment, a line's worth of each: plain values, filled from the answers of
// servers or of a Prometheus, read by the views. No clock, no I/O. An empty optional is unknown.
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
  model::Bytes bytes{};   // of the parts that are known; none: no part is
  bool complete = true;   // false: a part is missing, it is "at least"
  bool estimate = false;  // a part of it is one

  void add(model::Bytes part) {
    if (part) {
      bytes = saturating_add(bytes.value_or(0), *part);
    } else {
      complete = false;
    }
  }
  // A sum without parts adds nothing.
  void add(const Sum& part) {
    if (part.bytes) bytes = saturating_add(bytes.value_or(0), *part.bytes);
    complete = complete && part.complete;
    estimate = estimate || part.estimate;
  }
};

// How full memory is. Only of devices of which both are known: what one holds is no share of the
// capacity of others.
struct Fill {
  std::uint64_t used_bytes = 0;
  std::uint64_t capacity_bytes = 0;

  void add(model::Bytes used, model::Bytes capacity) {
    if (!used || !capacity) return;
    used_bytes = saturating_add(used_bytes, *used);
    capacity_bytes = saturating_add(capacity_bytes, *capacity);
  }
  void add(const Fill& part) { add(part.used_bytes, part.capacity_bytes); }

  // None: there is no such device.
  [[nodiscard]] std::optional<double> share() const {
    if (capacity_bytes == 0) return std::nullopt;
    return static_cast<double>(used_bytes) / static_cast<double>(capacity_bytes);
  }
};

// How many there are on hosts.
struct Count {
  std::optional<std::uint64_t> count{};  // on the hosts that tell; none: no host does
  bool complete = true;                  // false: a host does not tell, it is "at least"

  void add(std::optional<std::uint64_t> part) {
    if (part) {
      count = saturating_add(count.value_or(0), *part);
    } else {
      complete = false;
    }
  }
};

// The least of a figure, and the device that has it.
struct Least {
  std::optional<std::int64_t> bytes{};
  std::string device{};  // as --device takes it; empty: unknown

  void add(std::optional<std::int64_t> other, const std::string& of) {
    if (!other || (bytes && *bytes <= *other)) return;
    bytes = other;
    device = of;
  }
};

// The living processes of one job on one host.
struct JobShare {
  std::string job;  // as text::format_job() names it; empty: of none
  std::uint64_t processes = 0;
  Sum dram{};
  Sum l1{};  // buffers, L1_SMALL, CBs and kernels
  Sum trace{};
  Least headroom{};  // per core, on the devices that it uses
};

struct Host {
  std::string address;  // as people name it: "node7", "node7:9500", an instance of Prometheus
  std::string name{};   // what it calls itself; empty: unknown
  std::optional<remote::Fault> fault{};  // why it is not known what it holds; nothing below is then

  std::optional<std::uint64_t> devices{};
  Sum dram_used{};
  Sum dram_capacity{};
  Sum l1_used{};
  Sum l1_capacity{};
  Fill dram_fill{};
  Fill l1_fill{};
  Least dram_left{};  // on the device that has the least
  Least headroom{};   // per core, on the tightest device

  std::optional<std::uint64_t> processes{};  // that live
  std::optional<std::uint64_t> untracked{};  // of them, that report nothing and may hold memory
  std::optional<std::uint64_t> dead{};       // whose segments are still there
  std::optional<std::uint64_t> died{};       // with memory, since the server started
  std::optional<bool> complete = true;       // false: something there could not be read
  std::optional<std::uint64_t> warning_count{};
  std::vector<std::string> warnings{};  // the first of them; empty where only their number is known

  bool jobs_known = true;  // false: nobody tells which processes there are, or what they hold
  std::vector<JobShare> jobs{};
  // Of its processes, each a text that no other process of a machine of this name has.
  std::vector<std::string> process_keys{};
  // The same of its chips, as far as their uids are known.
  std::vector<std::string> chip_keys{};
};

// One job on all hosts.
struct FleetJob {
  std::string job;  // empty: of none
  std::uint64_t hosts = 0;
  std::uint64_t processes = 0;
  Sum dram{};
  Sum l1{};
  Sum trace{};
  Least headroom{};
  std::string headroom_host{};  // which has that device; empty: unknown
};

struct Total {
  std::uint64_t answered = 0;  // hosts
  Count devices{};             // of these
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
  std::string host{};            // that asked
  std::string prometheus{};      // its URL, if it was asked; empty: the hosts themselves were
  std::vector<Host> hosts{};     // in order; at the end those without an answer
  std::vector<FleetJob> jobs{};  // what holds the most first, at the end what is of none
  Total total{};
  std::vector<std::string> warnings{};  // whole sentences: hosts without an answer, and others
  std::vector<std::string> unread{};    // those of them about what is missing in sums
  std::vector<std::string> refused{};   // those of them about what a Prometheus did not answer

  // False: something is missing, so that sums are "at least".
  [[nodiscard]] bool complete() const { return unread.empty(); }
};

}  // namespace ttmem::fleet
