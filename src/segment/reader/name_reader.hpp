// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "segment/reader/byte_source.hpp"
#include "segment/reader/segment_map.hpp"

namespace ttmem::segment {

// The names of these programs, in their order, safe to print. Empty: the program has none, or its
// record is not complete or not there. None when the file is cut short while being read.
[[nodiscard]] std::optional<std::vector<std::string>> read_names(
    const ByteSource& source, const SegmentMap& map, std::span<const ProgramSlot> programs);

}  // namespace ttmem::segment
