// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyse/report/chip_figures.hpp"
#include "analyse/report/report.hpp"
#include "read/recording/file/chips.hpp"
#include "read/recording/file/tables.hpp"

namespace ttmem::report {

using recording::RecordedChip;
using recording::Tables;

// Returns what processes say about a chip, without figures. If processes differ, the first known
// value is taken.
[[nodiscard]] DeviceReport describe(const Tables& tables, const RecordedChip& chip);
// Sets the extremes that a pass over the story has found.
void set_extremes(const ChipFigures& figures, DeviceReport& device);

// Calls both functions above.
[[nodiscard]] DeviceReport chip_report(const Tables& tables, const RecordedChip& chip,
                                       const ChipFigures& figures);

}  // namespace ttmem::report
