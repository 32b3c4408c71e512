// SPDX-License-Identifier: Apache-2.0
//
// What one pass over a directory found: the input of build_snapshot().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collector/tt_metal_region.hpp"
#include "model/snapshot.hpp"
#include "segment/segment_image.hpp"

namespace ttmem::collector {

// A segment that could be read and believed.
struct SegmentEvidence {
  segment::SegmentImage image;
  model::State state = model::State::alive;
  std::string user;
  bool this_boot = true;  // false: its times are of another boot, and say nothing now
  // /proc shows the very process, by pid, start time and owner. False: it is of another pid
  // namespace, or of the past; then it speaks for no process of this one.
  bool confirmed = false;
};

// How long ago `when_ns` of the segment's own clock was; 0 when that cannot be said.
[[nodiscard]] inline std::uint64_t age_ns(const SegmentEvidence& segment, std::uint64_t when_ns,
                                          std::uint64_t monotonic_ns) {
  return segment.this_boot && when_ns < monotonic_ns ? monotonic_ns - when_ns : 0;
}

struct RowEvidence {
  RegionRow row;
  model::State state = model::State::alive;
  std::string user;
};

// A region of TT-Metal's own.
struct RegionEvidence {
  std::uint64_t uid = 0;  // 0: unknown
  std::uint32_t device_id = 0;
  std::vector<RowEvidence> rows;
};

struct Evidence {
  std::uint64_t time_unix_ns = 0;
  std::uint64_t monotonic_ns = 0;
  std::string host;
  std::string directory;
  std::vector<SegmentEvidence> segments;
  std::vector<RegionEvidence> regions;
  std::vector<std::string> warnings;
};

}  // namespace ttmem::collector
