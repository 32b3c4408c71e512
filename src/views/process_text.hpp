// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/snapshot.hpp"
#include "views/text.hpp"

namespace ttmem::views {

// A process over all its devices. A figure that is unknown on one device is unknown in the sum.
struct ProcessTotal {
  model::Process sum;
  std::vector<std::uint32_t> devices;  // ids, ascending
};

// What the L1 BUF column shows: ordinary L1 buffers and those of L1_SMALL.
[[nodiscard]] model::Bytes l1_buffers_of(const model::Process& process);

// The command line without the folder of its program, else the name.
[[nodiscard]] std::string command_of(const model::Process& process);

// The living first, then by what they hold.
[[nodiscard]] std::vector<ProcessTotal> process_totals(const model::Snapshot& snapshot);

// One line per process, under headers. Empty when there is none.
[[nodiscard]] std::string process_text(const model::Snapshot& snapshot, const TextOptions& options);

}  // namespace ttmem::views
