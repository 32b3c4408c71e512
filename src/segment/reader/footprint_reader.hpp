// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "segment/reader/byte_source.hpp"
#include "segment/reader/segment_image.hpp"
#include "segment/reader/segment_map.hpp"

namespace ttmem::segment {

// The footprints of some programs. Each footprint is contained once, even if many programs share
// it, so the footprints never take more memory than the CB records of the file.
struct Footprints {
  std::vector<LiveFootprint> footprints;
  // For each program: the index of its footprint in `footprints`. nullopt if the program was
  // destroyed before its CBs were read, or if its slot refers to invalid CB records.
  std::vector<std::optional<std::uint32_t>> of_program;
  std::uint64_t invalid_records = 0;
};

// Reads the footprints of `programs`. Returns nullopt if the file is truncated while being read.
[[nodiscard]] std::optional<Footprints> read_footprints(const ByteSource& source,
                                                        const SegmentMap& map,
                                                        std::span<const ProgramSlot> programs);

}  // namespace ttmem::segment
