// SPDX-License-Identifier: Apache-2.0
#include "show/fleet/fleet_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "show/views/snapshot_text.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

namespace ttmem::fleet {
namespace {

using text::Color;
using text::kNone;
using text::kUnknown;
using text::Table;
using text::TableCell;
using text::TextOptions;
using text::Units;

// Headroom below which the next program with larger circular buffers is likely to fail. The alert
// in packaging/deploy/prometheus/ttmem-fleet.rules.yml uses the same limit.
constexpr std::int64_t kTight = 16384;

std::string sum_text(const Sum& sum, Units units) {
  if (!sum.bytes) return std::string(kUnknown);
  return (sum.complete ? "" : ">=") +
         text::mark_estimate(format_bytes(sum.bytes, units), sum.estimate);
}

TableCell share_cell(const Fill& fill) {
  const auto share = fill.share();
  return {text::format_share(share), text::color_of(text::tone_of_share(share))};
}

TableCell headroom_cell(const Least& headroom, bool complete, Units units) {
  if (!headroom.bytes) return {std::string(kUnknown)};
  const Color color = *headroom.bytes < 0        ? Color::red
                      : *headroom.bytes < kTight ? Color::yellow
                                                 : Color::plain;
  return {
      (complete ? "" : "<=") + text::format_signed_bytes(headroom.bytes, units, text::Scale::core),
      color};
}

// Returns a cell that highlights a number above zero.
TableCell trouble(std::optional<std::uint64_t> count) {
  if (!count) return {std::string(kUnknown)};
  if (*count == 0) return {std::string(kNone)};
  return {text::format_count(count), Color::yellow};
}

// Returns trouble(count), or an empty cell if the number is unknown. The table leaves out a column
// that has only empty cells.
TableCell trouble_if_known(std::optional<std::uint64_t> count) {
  return count ? trouble(count) : TableCell{std::string(kNone)};
}

// Returns the jobs of a host, such as "4711, 4712 +3".
std::string jobs_of(const Host& host) {
  constexpr std::size_t max_cells = 40;
  std::vector<std::string> names;
  for (const JobShare& share : host.jobs) {
    // Shortens each name before joining, so that the number of names that fit is correct.
    names.push_back(text::cut(text::printable(share.job, true), max_cells / 2, true));
  }
  return text::or_none(text::joined_to_fit(names, max_cells, ", ", true));
}

std::vector<TableCell> cells_of(const Host& host, Units units) {
  const bool other_name = !host.name.empty() && host.name != host.address;
  return {{host.address, Color::bold},
          {other_name ? host.name : std::string(kNone)},
          {text::format_count(host.devices)},
          {sum_text(host.dram_used, units)},
          {sum_text(host.dram_capacity, units)},
          share_cell(host.dram_fill),
          {sum_text(host.l1_used, units)},
          {sum_text(host.l1_capacity, units)},
          share_cell(host.l1_fill),
          headroom_cell(host.headroom, host.complete.value_or(false), units),
          {text::or_none(host.headroom.device)},
          {text::format_count(host.processes)},
          trouble_if_known(host.dead),
          trouble_if_known(host.died),
          trouble_if_known(host.untracked),
          trouble_if_known(host.warning_count),
          {jobs_of(host)}};
}

std::string hosts_text(const Fleet& fleet, const TextOptions& options) {
  if (fleet.total.answered == 0) return {};
  using enum text::Column::Align;
  using Cut = text::Column::Cut;
  Table table({{"HOST", left, 0, Cut::middle},
               {"NAME", left, 11, Cut::never, true},
               {"DEV"},
               {"DRAM"},
               {"OF", right, 5},
               {"%"},
               {"L1"},
               {"OF", right, 10},
               {"%"},
               {"HEADROOM"},
               {"ON", right, 1},
               {"PROCS", right, 3},
               {"DEAD", right, 2, Cut::never, true},
               {"DIED", right, 6, Cut::never, true},
               {"UNTRACKED", right, 7, Cut::never, true},
               {"WARNINGS", right, 9, Cut::never, true},
               {"JOBS", left, 12, Cut::never, true}});
  for (const Host& host : fleet.hosts) {
    if (!host.fault) table.add_row(cells_of(host, options.units));
  }
  return table.render(0, options);
}

std::string where_of(const FleetJob& job) {
  if (job.headroom_host.empty()) return std::string(kNone);
  return job.headroom_host + " device " + job.headroom.device;
}

std::string jobs_text(const Fleet& fleet, const TextOptions& options) {
  if (fleet.jobs.empty()) return {};
  using enum text::Column::Align;
  using Cut = text::Column::Cut;
  Table table({{"JOB", left, 0, Cut::middle},
               {"HOSTS"},
               {"PROCESSES"},
               {"DRAM"},
               {"L1"},
               {"TRACE", right, 1},
               {"HEADROOM"},
               {"ON", left, 2, Cut::never, true}});
  for (const FleetJob& job : fleet.jobs) {
    const bool complete = job.dram.complete;
    table.add_row(
        {{job.job.empty() ? "(none)" : job.job, job.job.empty() ? Color::dim : Color::bold},
         {fmt::format("{}{}", complete ? "" : ">=", job.hosts)},
         {fmt::format("{}{}", complete ? "" : ">=", job.processes)},
         {sum_text(job.dram, options.units)},
         {sum_text(job.l1, options.units)},
         {sum_text(job.trace, options.units)},
         headroom_cell(job.headroom, complete, options.units),
         {where_of(job)}});
  }
  return "\n" + table.render(0, options);
}

// Returns the hosts without an answer, and below them the next step for each kind of fault.
std::string faults_text(const Fleet& fleet, const TextOptions& options) {
  using enum text::Column::Align;
  using Cut = text::Column::Cut;
  Table table({{"NO ANSWER", left}, {"WHY", left, 1}, {"REASON", left, 0, Cut::end}});
  std::vector<std::pair<std::string, std::string>> steps;
  for (const Host& host : fleet.hosts) {
    if (!host.fault) continue;
    table.add_row({{host.address, Color::bold},
                   {std::string(name_of(host.fault->kind)), Color::yellow},
                   {host.fault->reason}});
    std::pair<std::string, std::string> step(name_of(host.fault->kind), host.fault->next_step);
    if (std::find(steps.begin(), steps.end(), step) == steps.end()) steps.push_back(step);
  }
  if (steps.empty()) return {};
  std::string text = "\n" + table.render(0, options);
  for (const auto& [kind, step] : steps) {
    text += text::wrapped(text::printable(step, options.unicode), kind.size() + 2, Color::dim,
                          options, kind + ": ");
  }
  return text;
}

// Returns a text such as "8 devices", ">=8 devices" or "n/a devices".
std::string count_text(const Count& count, std::string_view one, std::string_view many) {
  if (!count.count) return fmt::format("{} {}", kUnknown, many);
  return (count.complete ? "" : ">=") + text::plural(*count.count, one, many);
}

// Returns a line such as "ttmem fleet  2026-11-18 02:10:11  198 of 200 hosts, 1584 devices, 400
// processes".
std::string title(const Fleet& fleet, const TextOptions& options) {
  const Total& total = fleet.total;
  const std::string hosts = total.answered == fleet.hosts.size()
                                ? text::plural(total.answered, "host", "hosts")
                                : fmt::format("{} of {} hosts", total.answered, fleet.hosts.size());
  return text::Line(options)
      .add("ttmem fleet", Color::bold)
      .add("  " + text::format_time(fleet.time_unix_ns, options.utc_offset_seconds))
      .add(fmt::format("  {}, {}, {}", hosts, count_text(total.devices, "device", "devices"),
                       count_text(total.processes, "process", "processes")))
      .add(fleet.prometheus.empty() ? "" : "  " + fleet.prometheus, Color::dim)
      .finish();
}

// Returns a line such as "DRAM  >=9.84 GiB of 96.0 GiB  10%   L1  1.2 GiB of 5.7 GiB  21%".
std::string total_line(const Total& total, const TextOptions& options) {
  if (total.answered == 0) return {};
  text::Line line(options);
  const auto add = [&](std::string_view name, const Sum& used, const Sum& capacity,
                       const Fill& fill) {
    const TableCell share = share_cell(fill);
    line.add(fmt::format("{}{}  {} of {}  ", line.width() == 0 ? "" : "    ", name,
                         sum_text(used, options.units), sum_text(capacity, options.units)))
        .add(share.text, share.color);
  };
  add("DRAM", total.dram_used, total.dram_capacity, total.dram_fill);
  add("L1", total.l1_used, total.l1_capacity, total.l1_fill);
  return line.finish();
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

std::string fleet_text(const Fleet& fleet, std::size_t rows, const TextOptions& options) {
  const std::string above =
      title(fleet, options) + total_line(fleet.total, options) + "\n" + hosts_text(fleet, options);
  const std::string below = jobs_text(fleet, options) + faults_text(fleet, options);
  if (rows == 0 || lines_in(above) + lines_in(below) <= rows) return above + below;
  const std::size_t room_below =
      std::min(lines_in(below), std::max(rows / 2, rows - std::min(rows, lines_in(above))));
  return views::fit_rows(above, rows - room_below, "--sort puts others first") +
         views::fit_rows(below, room_below, "a larger terminal shows them");
}

}  // namespace ttmem::fleet
