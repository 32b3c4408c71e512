// SPDX-License-Identifier: Apache-2.0
#include "serve/observatory/postmortem.hpp"

#include <fmt/format.h>

#include <utility>

#include "text/format.hpp"

namespace ttmem::serve {

using text::format_bytes;

std::vector<std::string> postmortem_lines(const collector::DeadSegment& dead) {
  std::vector<std::string> lines;
  const std::string pid = text::format_pid(dead.pid, dead.pid_namespace.has_value(), {});
  std::string sums;
  for (const Kind kind : kDeviceKinds) {
    const model::Bytes held = dead.kinds[kind].get(&KindFigures::used_bytes);
    sums +=
        fmt::format("{}{} {}", sums.empty() ? "" : ", ", key_of(kind), text::format_bytes(held));
  }
  const auto allocations = live_allocations(dead.kinds);
  lines.push_back(fmt::format(
      "[DEAD] [PID {}] {} of {} ended without freeing: {}; {} on all devices", pid,
      dead.name.empty() ? "a process" : dead.name, dead.user, sums,
      allocations ? text::plural(*allocations, "allocation", "allocations") : "allocations n/a"));
  if (!dead.command.empty()) {
    lines.push_back(fmt::format("[DEAD] [PID {}] command: {}", pid, dead.command));
  }
  if (const std::string job = text::format_job(dead.job); !job.empty()) {
    const std::string& rank = dead.job.rank;
    lines.push_back(
        fmt::format("[DEAD] [PID {}] job: {}{}", pid, job, rank.empty() ? "" : " rank " + rank));
  }
  for (const collector::HeldAllocation& held : dead.largest) {
    lines.push_back(fmt::format(
        "[DEAD] [PID {}] held: device {} {} {}{}{}{}", pid, text::format_ids(held.devices),
        name_of(held.kind), format_bytes(held.used_bytes), held.devices.size() > 1 ? " each" : "",
        held.address ? " at " + text::format_hex(*held.address) : std::string(),
        held.label.empty() ? std::string() : fmt::format(" \"{}\"", held.label)));
  }
  return lines;
}

void Postmortems::add(Postmortem postmortem) {
  ++total_;
  list_.push_back(std::move(postmortem));
  if (list_.size() > kMax) list_.pop_front();
}

}  // namespace ttmem::serve
