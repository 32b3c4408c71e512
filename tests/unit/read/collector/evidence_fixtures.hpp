// SPDX-License-Identifier: Apache-2.0
//
// Evidence for build_snapshot(), as gather() returns it.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "read/collector/build_snapshot.hpp"
#include "segment/reader/segment_reader.hpp"
#include "support/segment_builder.hpp"

namespace ttmem::collector::fixtures {

using model::Snapshot;
using model::State;
using segment::DeviceRecord;
using testing::SegmentBuilder;

constexpr Kind kDram = Kind::dram;
constexpr Kind kL1 = Kind::l1;
constexpr Kind kKernel = Kind::kernel;

inline SegmentEvidence evidence(SegmentBuilder& builder, std::int32_t pid,
                                State state = State::alive) {
  builder.header().pid = pid;
  const auto bytes = builder.bytes();
  return {.image = segment::read_segment(segment::MemorySource(bytes)).value(),
          .state = state,
          .user = "alice",
          .this_boot = true,
          .confirmed = true};
}

inline Snapshot snapshot_of(std::vector<SegmentEvidence> segments,
                            std::vector<RegionEvidence> regions = {}) {
  Evidence all;
  all.monotonic_ns = 1000;
  all.directory = "/dev/shm";
  all.segments = std::move(segments);
  for (SegmentEvidence& segment : all.segments) segment.geometry = geometry_of(segment.image);
  all.regions = std::move(regions);
  return build_snapshot(std::move(all));
}

// Returns the segment of one process with DRAM figures on device 0. The chip of device 0 has the
// given uid.
inline SegmentBuilder process(std::uint64_t uid, std::uint64_t dram, std::uint64_t dram_peak) {
  SegmentBuilder builder;
  DeviceRecord& device = builder.add_device(0, uid);
  device.figures.kinds[kDram].used_bytes = dram;
  device.figures.kinds[kDram].peak_bytes = dram_peak;
  device.figures.kinds[kDram].live = 3;
  device.figures.kinds[kL1].used_bytes = 100;
  device.figures.kinds[kL1].logical_bytes = 90;
  device.figures.kinds[kKernel].used_bytes = 7;
  device.figures.kinds[kKernel].live = 1;
  device.figures.kernel_role_bytes[0] = 1;
  device.figures.kernel_role_bytes[1] = 2;
  device.figures.kernel_role_bytes[2] = 4;
  device.figures.l1_total_bytes = 157;
  device.figures.kinds[Kind::cb].used_bytes = 50;
  device.figures.programs = 2;
  return builder;
}

inline RegionEvidence region(std::uint64_t uid, std::int32_t pid, State state) {
  RegionRow row{.pid = pid, .name = "probe", .updated_unix_ns = 1};
  for (const auto& [kind, bytes] :
       {std::pair(Kind::dram, 18087936U), std::pair(Kind::l1, 393216U),
        std::pair(Kind::l1_small, 131072U), std::pair(Kind::trace, 0U)}) {
    row.kinds[kind].set(&KindFigures::used_bytes, bytes);
    row.kinds[kind].set(&KindFigures::logical_bytes, bytes);
  }
  row.kinds[Kind::cb].set(&KindFigures::used_bytes, 1966080);
  return {.file = {}, .uid = uid, .device_id = 0, .rows = {{row, state, "bob"}}};
}

inline bool mentions(const Snapshot& snapshot, const std::string& text) {
  return std::any_of(
      snapshot.warnings.begin(), snapshot.warnings.end(),
      [&](const std::string& warning) { return warning.find(text) != std::string::npos; });
}

}  // namespace ttmem::collector::fixtures
