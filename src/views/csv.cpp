// SPDX-License-Identifier: Apache-2.0
#include "views/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "views/format.hpp"

namespace ttmem::views {
namespace {

using model::Device;
using model::Snapshot;

// A row as (column, value) pairs, so that header and rows cannot disagree.
using Row = std::vector<std::pair<std::string_view, std::string>>;

template <typename T>
std::string field_of(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string(kUnknown);
}

std::string field_of(const std::string& text) {
  return text.empty() ? std::string(kUnknown) : text;
}

std::string field_of(std::uint16_t grid) {
  return grid == 0 ? std::string(kUnknown) : fmt::format("{}", grid);
}

std::string uid_of(const Device& device) {
  return device.uid ? format_hex(*device.uid) : std::string(kUnknown);
}

std::string count_of(const Device& device, model::State state) {
  return fmt::format("{}", std::count_if(device.processes.begin(), device.processes.end(),
                                         [&](const auto& p) { return p.state == state; }));
}

std::uint64_t total_of(const model::Anomalies& found) {
  return found.unknown_frees + found.allocs_over_live + found.overlapping_buffers +
         found.unknown_programs + found.bad_arguments + found.left_at_close;
}

Row row_of(const Snapshot& snapshot, const Device& d) {
  return {{"device", fmt::format("{}", d.id)},
          {"uid", uid_of(d)},
          {"arch", field_of(d.arch)},
          {"board", field_of(d.board)},
          {"dram_used_bytes", field_of(d.dram_used_bytes)},
          {"dram_peak_bytes", field_of(d.dram_peak_bytes)},
          {"dram_capacity_bytes", field_of(d.dram_capacity_bytes)},
          {"dram_logical_bytes", field_of(d.dram_logical_bytes)},
          {"l1_used_bytes", field_of(d.l1_used_bytes)},
          {"l1_peak_bytes", field_of(d.l1_peak_bytes)},
          {"l1_capacity_bytes", field_of(d.l1_capacity_bytes)},
          {"l1_buffers_logical_bytes", field_of(d.l1_buffers_logical_bytes)},
          {"l1_buffers_physical_bytes", field_of(d.l1_buffers_physical_bytes)},
          {"l1_small_bytes", field_of(d.l1_small_bytes)},
          {"cb_physical_bytes", field_of(d.cb_physical_bytes)},
          {"cb_resident_bytes", field_of(d.cb_resident_bytes)},
          {"cb_logical_bytes", field_of(d.cb_logical_bytes)},
          {"cb_peak_bytes", field_of(d.cb_peak_bytes)},
          {"kernels_bytes", field_of(d.kernels_bytes)},
          {"kernels_persistent_bytes", field_of(d.kernels_persistent_bytes)},
          {"kernels_estimated_bytes", field_of(d.kernels_estimated_bytes)},
          {"headroom_bytes_per_core", field_of(d.headroom_bytes_per_core)},
          {"trace_used_bytes", field_of(d.trace_used_bytes)},
          {"trace_peak_bytes", field_of(d.trace_peak_bytes)},
          {"trace_capacity_bytes", field_of(d.trace_capacity_bytes)},
          {"system_bytes", field_of(d.system_bytes)},
          {"grid_x", field_of(d.grid_x)},
          {"grid_y", field_of(d.grid_y)},
          {"programs", field_of(d.programs)},
          {"allocations_total", field_of(d.allocations_total)},
          {"frees_total", field_of(d.frees_total)},
          {"anomalies", fmt::format("{}", total_of(d.anomalies))},
          {"processes_alive", count_of(d, model::State::alive)},
          {"processes_dead", count_of(d, model::State::dead)},
          {"time_unix_ns", fmt::format("{}", snapshot.time_unix_ns)},
          {"host", field_of(snapshot.host)}};
}

Row row_of(const Snapshot& snapshot, const Device& device, const model::Core& core) {
  return {{"device", fmt::format("{}", device.id)},
          {"uid", uid_of(device)},
          {"x", fmt::format("{}", core.x)},
          {"y", fmt::format("{}", core.y)},
          {"cb_bytes", field_of(core.cb_bytes)},
          {"cb_resident_bytes", field_of(core.cb_resident_bytes)},
          {"l1_bytes", field_of(core.l1_bytes)},
          {"headroom_bytes", field_of(core.headroom_bytes)},
          {"time_unix_ns", fmt::format("{}", snapshot.time_unix_ns)}};
}

std::string line_of(const Row& row, bool names) {
  std::vector<std::string> fields;
  for (const auto& [name, value] : row) fields.push_back(csv_field(names ? name : value));
  return join(fields, ",") + "\n";
}

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_header(CsvRows rows) {
  return line_of(rows == CsvRows::devices ? row_of({}, {}) : row_of({}, {}, {}), true);
}

std::string csv_rows(const Snapshot& snapshot, CsvRows rows) {
  std::string text;
  for (const Device& device : snapshot.devices) {
    if (rows == CsvRows::devices) {
      text += line_of(row_of(snapshot, device), false);
      continue;
    }
    for (const model::Core& core : device.cores) {
      text += line_of(row_of(snapshot, device, core), false);
    }
  }
  return text;
}

}  // namespace ttmem::views
