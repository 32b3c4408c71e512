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
  bool per_core = false;  // adds a map of the cores of each device
  // Adds the warnings at the end, for screens that overwrite the warnings on stderr.
  bool warnings = false;
  ProcessChoice processes{};
  bool brief = false;  // shows one line per device
  // Maximum number of lines; 0 means no maximum. If the text has more lines, devices are shown in
  // brief (except maps of cores), and a line says how to see the rest. All processes are still
  // shown unless `cut_to_rows` is true.
  std::size_t rows = 0;
  // Only used if `rows` is not 0. If true, the ends of the two lists of devices and processes are
  // cut until the text fits. If false, a text that is too long even in brief is not cut and
  // scrolls.
  bool cut_to_rows = false;
};

// Returns the output of `ttmem`: devices, their sum if there are several, processes, and a legend.
// Returns one line with advice if there is no device.
//
// The first line of a device starts with "Device N:". Indented lines below that line have "DRAM:",
// "L1:", "CB:" and "Kernels:", each followed by one blank and a size. Other programs search for
// these words. device_rows.hpp defines which rows exist and what they contain. The parts of L1 add
// up to L1, so the bar of each part starts where the bar of the previous part ends.
[[nodiscard]] std::string snapshot_text(const model::Snapshot& snapshot,
                                        const SnapshotTextOptions& what,
                                        const text::TextOptions& options);

// Returns at most `rows` lines of `text`. If lines are left out, the last line says how many,
// followed by the advice. If `rows` is 0, returns all lines.
[[nodiscard]] std::string fit_rows(const std::string& text, std::size_t rows,
                                   std::string_view advice);

}  // namespace ttmem::views
