// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "read/collector/evidence.hpp"

namespace ttmem::collector {

// Appends warnings about a segment that could be read: each names what the process could not record
// or did not free, the reason, and the next step.
void add_segment_warnings(const SegmentEvidence& segment, const std::string& directory,
                          std::vector<std::string>& warnings);

}  // namespace ttmem::collector
