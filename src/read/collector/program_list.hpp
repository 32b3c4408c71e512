// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "read/collector/evidence.hpp"
#include "read/collector/program_figures.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::collector {

// Lists the programs of one segment after another, within limits for all segments together. A
// Snapshot has a copy of the footprint for each program. Without limits, a segment of a few MiB
// whose programs share one footprint could take many GiB of memory and hours of work. Programs
// beyond the limits are left out, with a warning. Not thread-safe.
class ProgramList {
 public:
  // Adds the programs of a segment to `snapshot`. `device_index` has, for each device of the
  // segment, its index in the Snapshot.
  void list(const SegmentEvidence& segment, std::span<const std::uint32_t> device_index,
            std::uint64_t monotonic_ns, model::Snapshot& snapshot);

 private:
  using Figures = std::vector<std::optional<FootprintFigures>>;

  // Lists the programs of one device. Returns the number of programs that were left out.
  std::size_t list_device(const SegmentEvidence& segment,
                          std::span<const segment::LiveProgram* const> programs,
                          std::uint32_t device_index, std::uint64_t monotonic_ns,
                          const Figures& figures, model::Snapshot& snapshot);

  // These limits allow 256 MiB of CBs in a Snapshot, and a few seconds of work.
  std::uint64_t cbs_left_ = 1ULL << 22;
  WorkBudget work_{1ULL << 25};
};

}  // namespace ttmem::collector
