// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyse/report/chip_figures.hpp"
#include "analyse/report/chips.hpp"
#include "analyse/report/report.hpp"
#include "read/recording/file/tables.hpp"

namespace ttmem::report {

// What processes say of a chip; the first that says something counts. Without any figures.
[[nodiscard]] DeviceReport describe(const Tables& tables, const RecordedChip& chip);
// The extremes that a pass over the story has found.
void set_extremes(const ChipFigures& figures, DeviceReport& device);

// Both.
[[nodiscard]] DeviceReport chip_report(const Tables& tables, const RecordedChip& chip,
                                       const ChipFigures& figures);

}  // namespace ttmem::report
