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

// The sum of a process over all its devices. The sum of a figure is unknown if the figure is
// unknown on one device.
struct ProcessTotal {
  model::Process sum;
  std::vector<std::uint32_t> devices;  // indices into Snapshot::devices, ascending
  std::string where;  // devices for people: "0-3", "0x1f00a", or "0?" if the device is assumed
};

// Returns the command line without the folder of the program, or the name if the command line is
// unknown.
[[nodiscard]] std::string command_of(const model::Process& process);

// A column of the process list: PID, user, state, devices, DRAM, L1 buffers, CB, kernels, trace,
// allocations, source, a field of the job (base/job.hpp) or command.
struct ProcessColumn {
  std::string_view header;
  text::Column::Align align;
  int drop;   // as in text::Column
  int width;  // minimum width in cells, so that a table keeps its shape while figures change
  std::string (*text)(const ProcessTotal& total, text::Units units);
  bool (*less)(const ProcessTotal& a, const ProcessTotal& b);  // orders unknown first
  bool optional = false;                                       // as in text::Column
  bool only_asked = false;  // true: shown only if the user names the column
};
using ProcessColumns = std::vector<ProcessColumn>;
// Returns all columns for a list of `totals`. A column with the same value in all rows is dropped
// first.
[[nodiscard]] ProcessColumns process_columns(const std::vector<ProcessTotal>& totals);
// Returns the default columns for a list of `totals`.
[[nodiscard]] ProcessColumns usual_columns(const std::vector<ProcessTotal>& totals);
// Returns one cell for each column.
[[nodiscard]] std::vector<text::TableCell> process_cells(
    const ProcessColumns& columns, const ProcessTotal& total,
    text::Units units = text::Units::automatic);

// Returns the processes: the living first, then by the bytes that they hold, largest first.
[[nodiscard]] std::vector<ProcessTotal> process_totals(const model::Snapshot& snapshot);

// Returns the number of living processes.
[[nodiscard]] std::uint64_t living_processes(const model::Snapshot& snapshot);

// The processes and columns of a list, and the order of the processes.
struct ProcessChoice {
  selection::ProcessFilter only{};
  std::optional<std::size_t> sort{};  // index of a column; nullopt: the largest holder first
  // Indices of columns in the order shown; empty: the default columns.
  std::vector<std::size_t> columns{};
};

// Parses the value of --sort: the header of a column in small letters, such as "l1_buf", or its
// beginning.
[[nodiscard]] Result<std::size_t> parse_process_sort(std::string_view text);
// Returns the names that parse_process_sort() accepts.
[[nodiscard]] std::vector<std::string> process_sort_names();

// Parses the value of --columns, such as "pid,job,dram", into column indices in the same order.
[[nodiscard]] Result<std::vector<std::size_t>> parse_process_columns(std::string_view text);

// Returns headers and one line per process: the living first, sizes and counts descending. Returns
// an empty text if there is no process.
[[nodiscard]] std::string process_text(const model::Snapshot& snapshot, const ProcessChoice& choice,
                                       const text::TextOptions& options);

}  // namespace ttmem::views
