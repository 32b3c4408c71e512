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

// A process over all its devices. A figure that is unknown on one device has an unknown sum.
struct ProcessTotal {
  model::Process sum;
  std::vector<std::uint32_t> devices;  // indices into the snapshot's, ascending
  std::string where;                   // the same for people: "0-3", "0x1f00a", "0?" if supposed
};

// The command line without the folder of its program, else the name.
[[nodiscard]] std::string command_of(const model::Process& process);

// What can be listed of a process: PID, user, state, devices, DRAM, L1 buffers, CB, kernels, trace,
// allocations, source, what it is a part of (base/job.hpp), command.
struct ProcessColumn {
  std::string_view header;
  text::Column::Align align;
  int drop;   // as in Column
  int width;  // cells at least, where a table keeps its shape while figures change
  std::string (*text)(const ProcessTotal& total, text::Units units);
  bool (*less)(const ProcessTotal& a, const ProcessTotal& b);  // unknown is the least
  bool optional = false;                                       // as in Column
  bool only_asked = false;  // a list has it only when it is asked for
};
using ProcessColumns = std::vector<ProcessColumn>;
// All there are, for a list of these: a column with the same value in all rows is dropped
// first.
[[nodiscard]] ProcessColumns process_columns(const std::vector<ProcessTotal>& totals);
// Those of them that a list has which is not asked for others.
[[nodiscard]] ProcessColumns usual_columns(const std::vector<ProcessTotal>& totals);
// One cell for each of them.
[[nodiscard]] std::vector<text::TableCell> process_cells(
    const ProcessColumns& columns, const ProcessTotal& total,
    text::Units units = text::Units::automatic);

// The living first, then by what they hold.
[[nodiscard]] std::vector<ProcessTotal> process_totals(const model::Snapshot& snapshot);

// How many of them live.
[[nodiscard]] std::uint64_t living_processes(const model::Snapshot& snapshot);

// Which processes a list has, and in which order.
struct ProcessChoice {
  selection::ProcessFilter only{};
  std::optional<std::size_t> sort{};   // a column; none: what holds the most first
  std::vector<std::size_t> columns{};  // in this order; none: the usual ones
};

// The column that --sort names: its header in small letters, "l1_buf", or the beginning of it.
[[nodiscard]] Result<std::size_t> parse_process_sort(std::string_view text);
// What it takes.
[[nodiscard]] std::vector<std::string> process_sort_names();

// The columns that --columns names, in that order: "pid,job,dram".
[[nodiscard]] Result<std::vector<std::size_t>> parse_process_columns(std::string_view text);

// One line per process, under headers: the living first, sizes and counts descending. Empty when
// there is none.
[[nodiscard]] std::string process_text(const model::Snapshot& snapshot, const ProcessChoice& choice,
                                       const text::TextOptions& options);

}  // namespace ttmem::views
