// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyse/report/report.hpp"
#include "read/recording/file/chips.hpp"

namespace ttmem::report {

using recording::Chips;
using recording::Tables;

// Sets the peaks of a recording that has only a timeline. A process counts its own peaks. So the
// peak of a kind is exact if only one process uses the chip. For several processes, and for L1 as a
// whole, the peak is only a lower bound: the highest value that was certainly reached. The time of
// a peak is the time of a sample.
void set_sampled_peaks(const Tables& tables, const Chips& chips,
                       std::vector<DeviceReport>& devices);

}  // namespace ttmem::report
