// SPDX-License-Identifier: Apache-2.0
#include "views/process_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "views/format.hpp"
#include "views/table.hpp"

namespace ttmem::views {
namespace {

using model::Process;
using model::State;

bool same_process(const Process& a, const Process& b) {
  return std::tie(a.pid, a.state, a.source, a.name, a.user) ==
         std::tie(b.pid, b.state, b.source, b.name, b.user);
}

}  // namespace

model::Bytes l1_of(const Process& process) {
  return sum_of(process.kinds, std::array{Kind::l1, Kind::l1_small}, &KindFigures::used_bytes);
}

std::vector<Cell> process_cells(const ProcessTotal& total) {
  const Process& p = total.sum;
  const bool dead = p.state == State::dead;
  const Color color = dead ? Color::red : Color::plain;
  return {{fmt::format("{}", p.pid), color},
          {p.user.empty() ? std::string(kUnknown) : p.user, color},
          {dead ? "dead" : "alive", dead ? Color::red : Color::green},
          {format_ids(total.devices), color},
          {format_bytes(p.used(Kind::dram)), color},
          {format_bytes(l1_of(p)), color},
          {format_bytes(p.used(Kind::cb)), color},
          {format_bytes(p.used(Kind::kernel)), color},
          {format_bytes(p.used(Kind::trace)), color},
          {format_count(live_allocations(p.kinds)), color},
          {p.source == model::Source::ttmem ? "ttmem" : "tt-metal", color},
          {command_of(p), color}};
}

namespace {

Table make_table(bool all_alive, bool all_ttmem) {
  using enum Column::Align;
  // A column with the same value in all rows is dropped first.
  const int state_drop = all_alive ? 8 : 0;
  const int source_drop = all_ttmem ? 9 : 3;
  return Table({{"PID"},
                {"USER", left, 4},
                {"STATE", left, state_drop},
                {"DEV", left},
                {"DRAM"},
                {"L1 BUF", right, 1},
                {"CB"},
                {"KERNELS", right, 2},
                {"TRACE", right, 6},
                {"ALLOCS", right, 5},
                {"SOURCE", left, source_drop},
                {"COMMAND", left, 0, true}});
}

}  // namespace

std::string command_of(const Process& process) {
  if (process.command.empty()) {
    return process.name.empty() ? std::string(kUnknown) : process.name;
  }
  const std::size_t program_end = process.command.find(' ');
  const std::size_t slash = process.command.substr(0, program_end).rfind('/');
  return slash == std::string::npos ? process.command : process.command.substr(slash + 1);
}

std::vector<ProcessTotal> process_totals(const model::Snapshot& snapshot) {
  std::vector<ProcessTotal> totals;
  for (const model::Device& device : snapshot.devices) {
    for (const Process& process : device.processes) {
      const auto known = std::find_if(totals.begin(), totals.end(), [&](const auto& total) {
        return same_process(total.sum, process);
      });
      if (known == totals.end()) {
        totals.push_back({process, {device.id}});
        continue;
      }
      merge(known->sum.kinds, process.kinds);
      if (known->devices.back() != device.id) known->devices.push_back(device.id);
    }
  }
  std::stable_sort(totals.begin(), totals.end(), [](const auto& a, const auto& b) {
    if (a.sum.state != b.sum.state) return a.sum.state == State::alive;
    return held_bytes(a.sum) > held_bytes(b.sum);
  });
  return totals;
}

std::string process_text(const model::Snapshot& snapshot, const TextOptions& options) {
  const std::vector<ProcessTotal> totals = process_totals(snapshot);
  if (totals.empty()) return {};
  std::uint64_t dead = 0;
  bool all_ttmem = true;
  for (const ProcessTotal& total : totals) {
    if (total.sum.state == State::dead) ++dead;
    all_ttmem &= total.sum.source == model::Source::ttmem;
  }
  Table table = make_table(dead == 0, all_ttmem);
  for (const ProcessTotal& total : totals) table.add_row(process_cells(total));
  std::string text = table.render(0, options);
  if (dead > 0) {
    text += wrapped(plural(dead, "process is dead: what it held is not counted above;",
                           "processes are dead: what they held is not counted above;") +
                        " `ttmem clean` removes " + (dead == 1 ? "it." : "them."),
                    0, Color::red, options);
  }
  return text;
}

}  // namespace ttmem::views
