// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/snapshot.hpp"

namespace ttmem::collector {

// $TTMEM_DIR, or /dev/shm.
[[nodiscard]] std::string segment_directory();

// One pass over all segments of `directory`, and over the regions that TT-Metal writes there by
// itself. Never fails: what cannot be read, believed or decoded is left out, and a warning in the
// Snapshot names it, the reason and the next step. Writes nothing. Safe from any thread.
[[nodiscard]] model::Snapshot collect(const std::string& directory);

// A dead process's segment, as it was before it was removed.
struct Reaped {
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

struct ReapReport {
  std::vector<Reaped> reaped;
  std::vector<std::string> warnings;  // what could not be removed, and why
};

// Removes the segments whose owners are gone: whoever holds no lock on its file. Leftovers that
// never became segments go too, when nobody can still be writing them. With `dry_run` only says
// what it would remove.
[[nodiscard]] ReapReport reap(const std::string& directory, bool dry_run);

}  // namespace ttmem::collector
