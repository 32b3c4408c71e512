// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyse/report/report.hpp"
#include "read/recording/file/chips.hpp"

namespace ttmem::report {

using recording::Chips;
using recording::Tables;

// The peaks of a recording that has only a time line. A process counts its own peaks, so those of a
// kind are exact for a chip that one process uses; for several, and for L1 as a whole, they are the
// highest that is certain to have been reached. The moments are those of the samples.
void set_sampled_peaks(const Tables& tables, const Chips& chips,
                       std::vector<DeviceReport>& devices);

}  // namespace ttmem::report
