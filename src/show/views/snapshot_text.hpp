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
  bool per_core = false;  // adds a map of each device's cores
  bool warnings = false;  // adds the warnings at the end; for screens that overwrite stderr
  ProcessChoice processes{};
  bool brief = false;  // one line per device
  // Maximum number of lines; 0: no maximum. A longer text shows devices in brief (except maps of
  // cores), and a line says how to see the rest. All processes stay in the text.
  std::size_t rows = 0;
  // With `rows`: true cuts the devices and the processes at their ends until the text fits; false
  // lets a text that is still too long scroll away.
  bool cut_to_rows = false;
};

// Returns the output of `ttmem`: devices, their sum if there are several, processes, and a legend.
// Returns one line with advice if there is no device.
//
// The first line of a device starts with "Device N:". Indented lines below have "DRAM:", "L1:",
// "CB:" and "Kernels:", each followed by one blank and a size. Other programs search for these
// words. device_rows.hpp says which rows exist and what they contain. The parts of L1 are drawn as
// steps below its bar, because the parts add up to L1.
[[nodiscard]] std::string snapshot_text(const model::Snapshot& snapshot,
                                        const SnapshotTextOptions& what,
                                        const text::TextOptions& options);

// Returns at most `rows` lines of `text`. The last line of a cut text has the number of missing
// lines and the advice. Returns all lines if `rows` is 0.
[[nodiscard]] std::string fit_rows(const std::string& text, std::size_t rows,
                                   std::string_view advice);

}  // namespace ttmem::views
