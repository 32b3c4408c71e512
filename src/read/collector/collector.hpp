// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "read/collector/evidence.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::collector {

// One pass over all segments of `directory`, and over the regions that TT-Metal writes there by
// itself. Never fails: a file that cannot be read or is not valid is left out, and a warning in the
// Snapshot names it, the reason and the next step. Writes nothing. Safe from any thread.
[[nodiscard]] model::Snapshot collect(const std::string& directory);

// Passes over one directory again and again. Each Snapshot is what collect() of that moment would
// return, but a segment that has not changed since the last pass is not read again; when none has,
// only the times in the Snapshot change. For callers that collect every second.
//
// Takes the memory of all segments and of one Snapshot. One thread at a time.
class Collector {
 public:
  explicit Collector(std::string directory) : directory_(std::move(directory)) {}

  // Valid until the next call, as are the others.
  [[nodiscard]] const model::Snapshot& collect();
  // The same, but its allocations and programs, and the warnings about them, may be missing or as
  // old as an earlier call. For callers that need sums only.
  [[nodiscard]] const model::Snapshot& collect_figures();

  // What the last pass found; before the first, nothing.
  [[nodiscard]] const Evidence& evidence() const { return evidence_; }

 private:
  enum class Built : std::uint8_t { nothing, figures, all };

  void pass();
  void make_older(std::uint64_t passed_ns);

  std::string directory_;
  Evidence evidence_;
  model::Snapshot snapshot_;
  Built built_ = Built::nothing;  // what snapshot_ has of the evidence
  std::uint64_t ages_ns_ = 0;     // the monotonic time that its ages are of
};

// A live allocation of a dead process.
struct HeldAllocation {
  std::uint32_t device = 0;            // its id
  std::vector<std::uint32_t> devices;  // the ids of all its devices, ascending
  std::uint64_t uid = 0;               // of `device`; 0: unknown
  Kind kind = Kind::dram;
  std::uint64_t id = 0;
  std::optional<std::uint64_t> address;
  std::uint64_t bytes = 0;       // as asked for
  std::uint64_t used_bytes = 0;  // what that took of each device: physical where known
  std::string label;             // empty: none
};

// The segment of a dead process, and what it held.
struct DeadSegment {
  std::string path;
  std::int32_t pid = 0;
  std::optional<std::uint32_t> pid_namespace;  // of `pid`, if it is not the reader's
  std::string name;
  std::string command;
  std::string user;
  Job job{};
  std::uint64_t kernels_estimated_bytes = 0;
  bool cb_estimate = false;
  PerKind<KindFigures> kinds{};         // over all devices; nothing is known when it cannot be read
  bool readable = false;                // it is a segment, and not one that never became one
  bool abandoned = false;               // its server is gone, and the client may live
  bool clean_exit = false;              // it closed its segment, and held nothing
  std::vector<HeldAllocation> largest;  // at most kLargestHeld, the largest first
  // Of a copy that was made when memory did not suffice: the first line of what was said.
  std::optional<std::string> failure;
};
inline constexpr std::size_t kLargestHeld = 10;

struct DeadSegments {
  std::vector<DeadSegment> segments;
  std::vector<std::string> warnings;  // what could not be read, and why
};

// The segments whose owners are gone: nobody holds the lock on the file; and those of clients of a
// server that saw them end. Files that never became segments are among them, once nobody can still
// be writing them. Removes nothing.
[[nodiscard]] DeadSegments find_dead(const std::string& directory);
// Only among the files with these names.
[[nodiscard]] DeadSegments find_dead(const std::string& directory,
                                     const std::vector<std::string>& names);

// The copies of segments that were made when memory did not suffice (collector/failures.hpp), of
// processes that are gone. Copies that were never completed are among them. Removes nothing.
[[nodiscard]] DeadSegments find_failed(const std::string& directory);

// The segments that were kept for a reader (TTMEM_KEEP_FOR) that is gone: it would have removed
// them. Removes nothing.
[[nodiscard]] DeadSegments find_kept(const std::string& directory);

// The segments for clients of a server that was killed. What they say may be out of date: the
// clients may still live. Removes nothing.
[[nodiscard]] DeadSegments find_abandoned(const std::string& directory);

struct ReapReport {
  std::uint64_t removed = 0;
  std::vector<std::string> warnings;  // what could not be removed, and why
};

// Removes those of `dead` that are still there and still dead. Print what they held before: it is
// lost afterwards.
[[nodiscard]] ReapReport reap(const std::string& directory, const std::vector<DeadSegment>& dead);

// A region of TT-Metal's own with rows of dead processes: one that is killed leaves its row, and
// TT-Metal never removes it.
struct DeadRegion {
  std::string path;
  std::uint64_t uid = 0;  // of the chip; 0: unknown
  std::uint32_t device_id = 0;
  bool in_use = false;  // a row's process lives, or a process has the file mapped
  std::vector<RowEvidence> dead;
};
using DeadRegions = std::vector<DeadRegion>;

// Removes nothing.
[[nodiscard]] DeadRegions find_dead_regions(const std::string& directory);

// Removes the files of those that are not in use: TT-Metal makes a new one when it needs it. The
// rows of a region in use are never changed, because TT-Metal writes there.
[[nodiscard]] ReapReport reap_regions(const DeadRegions& regions);

}  // namespace ttmem::collector
