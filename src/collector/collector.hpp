// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/snapshot.hpp"

namespace ttmem::collector {

// $TTMEM_DIR, or /dev/shm.
[[nodiscard]] std::string segment_directory();

// One pass over all segments of `directory`, and over the regions that TT-Metal writes there by
// itself. Never fails: what cannot be read, believed or decoded is left out, and a warning in the
// Snapshot names it, the reason and the next step. Writes nothing. Safe from any thread.
[[nodiscard]] model::Snapshot collect(const std::string& directory);

// The segment of a dead process, and what it held.
struct DeadSegment {
  std::string path;
  std::int32_t pid = 0;
  std::string name;
  std::string user;
  std::uint64_t allocations = 0;
  // Over all devices; physical where known.
  std::uint64_t dram_bytes = 0;
  std::uint64_t l1_bytes = 0;
  std::uint64_t l1_small_bytes = 0;
  std::uint64_t trace_bytes = 0;
  std::uint64_t cb_bytes = 0;
  std::uint64_t kernels_bytes = 0;
};

struct DeadSegments {
  std::vector<DeadSegment> segments;
  std::vector<std::string> warnings;  // what could not be looked at, and why
};

// The segments whose owners are gone: whoever holds no lock on its file. Leftovers that never
// became segments are among them, when nobody can still be writing them. Removes nothing.
[[nodiscard]] DeadSegments find_dead(const std::string& directory);

// The segments that a server kept for its clients and left when it was killed. They say nothing any
// longer: the clients may be alive. Removes nothing.
[[nodiscard]] DeadSegments find_abandoned(const std::string& directory);

struct ReapReport {
  std::uint64_t removed = 0;
  std::vector<std::string> warnings;  // what could not be removed, and why
};

// Removes those of `dead` that are still there and still dead. Say first what they held: it is not
// known afterwards.
[[nodiscard]] ReapReport reap(const std::string& directory, const std::vector<DeadSegment>& dead);

}  // namespace ttmem::collector
