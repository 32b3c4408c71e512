// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "read/model/snapshot.hpp"
#include "show/views/process_text.hpp"
#include "text/text.hpp"

namespace ttmem::views {

struct SnapshotTextOptions {
  bool per_core = false;  // with the map of each device's cores
  bool warnings = false;  // at the end; for screens on which stderr would be overwritten
  ProcessChoice processes{};
  bool brief = false;  // one line a device
  // Lines that are there for the text. When it has more, devices are in brief, but for a map of
  // cores, and a line says how to see the rest; the processes are always there. 0: any number.
  std::size_t rows = 0;
  // With `rows`: what is still too much is cut, at the end of the devices and of the processes.
  // Else it may scroll away.
  bool cut_to_rows = false;
};

// What `ttmem` prints: devices, their sum when there are several, processes, and what the words
// mean. One line with advice when there is no device.
//
// The first line of a device starts with "Device N:"; below it, indented, stand "DRAM:", "L1:",
// "CB:" and "Kernels:", each followed by one blank and a size. Other programs search for these
// words. Which rows there are and what they say: device_rows.hpp. The parts of L1 are drawn as
// steps below its bar, because they add up to it.
[[nodiscard]] std::string snapshot_text(const model::Snapshot& snapshot,
                                        const SnapshotTextOptions& what,
                                        const text::TextOptions& options);

// At most `rows` lines of `text`; the last one then says how many are missing, and the advice. All
// of them when `rows` is 0.
[[nodiscard]] std::string fit_rows(const std::string& text, std::size_t rows,
                                   std::string_view advice);

}  // namespace ttmem::views
