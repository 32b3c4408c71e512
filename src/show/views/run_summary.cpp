// SPDX-License-Identifier: Apache-2.0
#include "show/views/run_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "text/format.hpp"
#include "text/table.hpp"

namespace ttmem::views {
namespace {

using model::LabelTotal;
using model::RunDevice;
using model::RunProcess;
using model::RunSummary;

// The devices of one process that have equal figures share a row. They are most likely the devices
// of a mesh.
struct SummaryRow {
  const RunProcess* process;
  std::vector<std::uint32_t> ids;
  std::vector<std::string> figures;
};

template <typename Figures>
std::vector<SummaryRow> rows_of(const RunSummary& summary, Figures figures_of) {
  std::vector<SummaryRow> rows;
  for (const RunProcess& process : summary.processes) {
    const std::size_t first = rows.size();
    for (const RunDevice& device : process.devices) {
      std::vector<std::string> figures = figures_of(device);
      if (figures.empty()) continue;
      const auto same = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
                                     [&](const SummaryRow& row) { return row.figures == figures; });
      if (same == rows.end()) {
        rows.push_back({&process, {device.id}, std::move(figures)});
      } else {
        same->ids.push_back(device.id);
      }
    }
  }
  return rows;
}

std::string table_of(std::vector<SummaryRow> rows, const std::vector<std::string>& headings,
                     const text::TextOptions& options) {
  using enum text::Column::Align;
  std::vector<text::Column> columns = {{"PID"}, {"DEV", left}};
  for (const std::string& heading : headings) columns.push_back({heading});
  columns.push_back({"COMMAND", left, 0, text::Column::Cut::end});
  text::Table table(std::move(columns));
  for (SummaryRow& row : rows) {
    std::sort(row.ids.begin(), row.ids.end());
    std::vector<text::TableCell> cells = {{fmt::format("{}", row.process->pid)},
                                          {format_ids(row.ids)}};
    for (std::string& figure : row.figures) cells.push_back({std::move(figure)});
    cells.push_back({row.process->command});
    table.add_row(std::move(cells));
  }
  return table.render(2, options);
}

std::vector<std::string> peaks_of(const RunDevice& device) {
  std::vector<std::string> figures;
  figures.reserve(kDeviceKinds.size() + 1);
  for (const Kind kind : kDeviceKinds) figures.push_back(text::format_bytes(device.peaks[kind]));
  figures.push_back(text::format_bytes(device.l1_peak));
  return figures;
}

// Returns the sizes that the process held on the device. Returns an empty list if every size is 0
// or unknown, and the process left no allocations when it closed the device.
std::vector<std::string> held_of(const RunDevice& device) {
  bool any = device.left > 0;
  std::vector<std::string> figures;
  for (const Kind kind : kDeviceKinds) {
    figures.push_back(text::format_bytes(device.held[kind]));
    any = any || device.held[kind].value_or(0) > 0;
  }
  figures.push_back(device.left == 0
                        ? "0"
                        : fmt::format("{} ({})", text::format_count(device.left),
                                      text::format_bytes(model::Bytes(device.left_bytes))));
  return any ? figures : std::vector<std::string>();
}

std::string holders_text(const std::vector<LabelTotal>& holders, const text::TextOptions& options) {
  using enum text::Column::Align;
  text::Table table({{"BYTES/DEVICE"},
                     {"ALL DEVICES"},
                     {"ALLOCS"},
                     {"KIND", left},
                     {"LABEL", left, 0, text::Column::Cut::middle}});
  for (const LabelTotal& holder : holders) {
    table.add_row({{text::format_bytes(model::Bytes(holder.bytes_on.per_device()))},
                   {text::format_bytes(model::Bytes(holder.bytes_on.on_all()))},
                   {text::format_count(holder.allocations)},
                   {std::string(name_of(holder.kind))},
                   {holder.label.empty() ? "(no label)" : holder.label}});
  }
  return table.render(2, options);
}

}  // namespace

std::string run_summary_text(const RunSummary& summary, const text::TextOptions& options) {
  std::string text;
  for (const std::string& warning : summary.warnings) {
    text += "ttmem: " + text::printable(warning, options.unicode) + "\n";
  }
  if (summary.unknown_processes > 0) {
    text +=
        fmt::format("ttmem: not in this summary: {} ended before it could be seen who started {}\n",
                    plural(summary.unknown_processes, "process that", "processes that"),
                    summary.unknown_processes == 1 ? "it" : "them");
  }
  std::vector<SummaryRow> peaks = rows_of(summary, peaks_of);
  if (peaks.empty()) return text + "ttmem: no device was used, as far as was reported\n";
  static_assert(kDeviceKinds.size() == 6, "a heading for each, in their order");
  const std::vector<std::string> kinds = {"DRAM", "L1 BUF", "L1_SMALL", "TRACE", "CB", "KERNELS"};
  std::vector<std::string> headings = kinds;
  headings.emplace_back("TOTAL L1");
  text += "ttmem: the most that was in use, per device\n" +
          table_of(std::move(peaks), headings, options);
  std::vector<SummaryRow> held = rows_of(summary, held_of);
  if (held.empty()) {
    text += "ttmem: nothing was held at the end\n";
  } else {
    headings = kinds;
    headings.emplace_back("LEFT AT CLOSE");
    text +=
        "ttmem: still held at the end, per device\n" + table_of(std::move(held), headings, options);
  }
  if (!summary.held.empty()) text += holders_text(summary.held, options);
  if (!summary.fullest.empty()) {
    text += fmt::format(
        "ttmem: the largest holders, when {} were in use on all devices after {}\n{}",
        text::format_bytes(model::Bytes(summary.fullest_bytes)),
        text::format_age(summary.fullest_after_ns), holders_text(summary.fullest, options));
  }
  return text;
}

}  // namespace ttmem::views
