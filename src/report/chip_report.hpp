// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recording/file/tables.hpp"
#include "report/chip_figures.hpp"
#include "report/chips.hpp"
#include "report/report.hpp"

namespace ttmem::report {

// What processes say of a chip; the first that says something counts. Without any figures.
[[nodiscard]] DeviceReport describe(const Tables& tables, const Chip& chip);
// The extremes that a pass over the story has found.
void set_extremes(const ChipFigures& figures, DeviceReport& device);

// Both.
[[nodiscard]] DeviceReport chip_report(const Tables& tables, const Chip& chip,
                                       const ChipFigures& figures);

}  // namespace ttmem::report
