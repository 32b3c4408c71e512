// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "analyse/report/report.hpp"
#include "base/kinds.hpp"
#include "read/recording/file/chips.hpp"
#include "read/recording/file/tables.hpp"

namespace ttmem::report {

using recording::Chips;
using recording::Tables;

// Sets `all_seen` and `cbs_seen` of each chip of the report. If one of them is false, sets the
// bounds of the chip's peaks too. Each process counts its own peaks, and the timeline has these
// peaks even if events were lost. The peak of a chip is at least the highest peak of a process, and
// at most the highest sum of the peaks of processes that had the chip open at the same time. Must
// be called after the peaks of the report were set.
void set_peak_ranges(const Tables& tables, const Chips& chips, Report& report);

// Returns the range of a peak. Both bounds are equal if the peak is exact. Returns nullopt if
// nothing is known about the peak.
[[nodiscard]] std::optional<FigureRange> peak_range_of(const DeviceReport& device, Kind kind);
// Returns the range of the peak of L1 buffers, L1_SMALL, circular buffers and kernels together.
[[nodiscard]] std::optional<FigureRange> l1_peak_range_of(const DeviceReport& device);

}  // namespace ttmem::report
