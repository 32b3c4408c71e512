// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyse/report/chip_figures.hpp"
#include "analyse/report/report.hpp"
#include "read/recording/file/chips.hpp"
#include "read/recording/file/tables.hpp"

namespace ttmem::report {

using recording::RecordedChip;
using recording::Tables;

// Returns the properties of a chip that processes report, without figures. If processes report
// different values, the first known value is taken.
[[nodiscard]] DeviceReport describe(const Tables& tables, const RecordedChip& chip);
// Sets the extremes that were found in a pass over the recording.
void set_extremes(const ChipFigures& figures, DeviceReport& device);

// Returns the result of describe() with the extremes that set_extremes() sets.
[[nodiscard]] DeviceReport chip_report(const Tables& tables, const RecordedChip& chip,
                                       const ChipFigures& figures);

}  // namespace ttmem::report
