// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyse/selection/select.hpp"
#include "base/job.hpp"
#include "base/result.hpp"
#include "read/model/snapshot.hpp"
#include "text/table.hpp"
#include "text/text.hpp"

namespace ttmem::views {

// The sum of a process over all its devices. For each kind, only devices on which the process
// reports the kind count. If a figure is unknown on one of these devices, its sum is unknown.
struct ProcessTotal {
  model::Process sum;
  std::vector<std::uint32_t> devices;  // indices into Snapshot::devices, ascending
  // The devices as shown to the user: "0-3", "0x1f00a", or "0?" if the device is assumed.
  std::string where;
};

// Returns the command line, in which the program is named without its folder. If the command line
// is unknown, returns the name of the process.
[[nodiscard]] std::string command_of(const model::Process& process);

// A column of the process list. There are columns for pid, user, state, devices, DRAM, L1 buffers,
// L1_SMALL, CB, kernels, trace, allocations, source, command, and each field of the job
// (base/job.hpp).
struct ProcessColumn {
  std::string_view header;
  text::Column::Align align;
  int drop;  // as text::Column::drop
  // Minimum width in cells, so that the columns do not move when figures change.
  int width;
  std::string (*text)(const ProcessTotal& total, text::Units units);
  bool (*less)(const ProcessTotal& a, const ProcessTotal& b);  // unknown values come first
  bool optional = false;                                       // as text::Column::optional
  bool only_asked = false;  // true if the column is shown only when the user names it
};
using ProcessColumns = std::vector<ProcessColumn>;
// Returns all columns for a list of `totals`. If all processes live and are tracked, a narrow
// terminal drops the column STATE first.
[[nodiscard]] ProcessColumns process_columns(const std::vector<ProcessTotal>& totals);
// Returns the default columns for a list of `totals`.
[[nodiscard]] ProcessColumns usual_columns(const std::vector<ProcessTotal>& totals);
// Returns the row of a process, with one cell for each column.
[[nodiscard]] std::vector<text::TableCell> process_cells(
    const ProcessColumns& columns, const ProcessTotal& total,
    text::Units units = text::Units::automatic);

// Returns one total for each process. Living processes come before dead processes, and processes
// that hold more bytes come first.
[[nodiscard]] std::vector<ProcessTotal> process_totals(const model::Snapshot& snapshot);

// Returns the number of living processes.
[[nodiscard]] std::uint64_t living_processes(const model::Snapshot& snapshot);

// The choice of the processes and columns to show, and the order of the processes.
struct ProcessChoice {
  selection::ProcessFilter only{};
  // Index of the column to sort by; nullopt: the process that holds the most bytes comes first.
  std::optional<std::size_t> sort{};
  // Indices of the columns in the order shown. If empty, the default columns are shown.
  std::vector<std::size_t> columns{};
};

// Parses the value of --sort and returns the index of the column. The value is the header of a
// column in small letters, such as "l1_buf", or the first letters of only one header. "l1" is L1
// buffers.
[[nodiscard]] Result<std::size_t> parse_process_sort(std::string_view text);
// Returns the names that parse_process_sort() accepts.
[[nodiscard]] std::vector<std::string> process_sort_names();

// Parses the value of --columns, such as "pid,job,dram", into column indices in the same order.
[[nodiscard]] Result<std::vector<std::size_t>> parse_process_columns(std::string_view text);

// Returns the list of processes: the headers, then one line per process. Living processes come
// before dead processes. Sorting by a size or a count is descending. Returns an empty text if there
// is no process.
[[nodiscard]] std::string process_text(const model::Snapshot& snapshot, const ProcessChoice& choice,
                                       const text::TextOptions& options);

}  // namespace ttmem::views
