// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/snapshot.hpp"
#include "views/table.hpp"
#include "views/text.hpp"

namespace ttmem::views {

// A process over all its devices. A figure that is unknown on one device has an unknown sum.
struct ProcessTotal {
  model::Process sum;
  std::vector<std::uint32_t> devices;  // ids, ascending
};

// The command line without the folder of its program, else the name.
[[nodiscard]] std::string command_of(const model::Process& process);

// L1 buffers and L1_SMALL together.
[[nodiscard]] model::Bytes l1_of(const model::Process& process);

// A process as a row: PID, user, state, devices, DRAM, L1 buffers, CB, kernels, trace, allocations,
// source, command.
[[nodiscard]] std::vector<Cell> process_cells(const ProcessTotal& total);

// The living first, then by what they hold.
[[nodiscard]] std::vector<ProcessTotal> process_totals(const model::Snapshot& snapshot);

// One line per process, under headers. Empty when there is none.
[[nodiscard]] std::string process_text(const model::Snapshot& snapshot, const TextOptions& options);

}  // namespace ttmem::views
