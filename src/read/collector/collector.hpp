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

// Reads all segments of `directory`, and the regions that TT-Metal writes there, in one pass. Never
// fails: a file that cannot be read or is not valid is left out, and a warning in the Snapshot
// names the file, the reason and the next step. Writes nothing. Safe from any thread.
[[nodiscard]] model::Snapshot collect(const std::string& directory);

// Reads one directory repeatedly. Each Snapshot equals the result of the function collect() at that
// moment, but segments that have not changed since the last pass are not read again. If nothing has
// changed, only the times and the sensor values in the Snapshot are updated. For callers that
// collect every second.
//
// Uses as much memory as all segments and one Snapshot. Not thread-safe.
class Collector {
 public:
  explicit Collector(std::string directory) : directory_(std::move(directory)) {}

  // The returned references are valid until the next call of collect() or collect_figures().
  [[nodiscard]] const model::Snapshot& collect();
  // Like collect(), but allocations, programs and the warnings about these lists may be missing or
  // out of date. For callers that need only sums.
  [[nodiscard]] const model::Snapshot& collect_figures();

  // Returns the evidence of the last pass; empty before the first pass.
  [[nodiscard]] const Evidence& evidence() const { return evidence_; }

 private:
  enum class Built : std::uint8_t { nothing, figures, all };

  void pass();
  void make_older(std::uint64_t passed_ns);

  std::string directory_;
  Evidence evidence_;
  model::Snapshot snapshot_;
  Built built_ = Built::nothing;  // the parts of snapshot_ that are up to date
  std::uint64_t ages_ns_ = 0;  // the monotonic time for which the ages in snapshot_ were computed
};

// A live allocation of a dead process.
struct HeldAllocation {
  std::uint32_t device = 0;            // the device id
  std::vector<std::uint32_t> devices;  // the ids of all its devices, ascending
  std::uint64_t uid = 0;               // uid of `device`; 0: unknown
  Kind kind = Kind::dram;
  std::uint64_t id = 0;
  std::optional<std::uint64_t> address;
  std::uint64_t bytes = 0;       // the size asked for
  std::uint64_t used_bytes = 0;  // the bytes used on each device: physical if known
  std::string label;             // empty if there is none
};

// The segment of a dead process, and the memory that the process held.
struct DeadSegment {
  std::string path;
  std::int32_t pid = 0;
  std::optional<std::uint32_t> pid_namespace;  // namespace of `pid`; nullopt: the reader's
  std::string name;
  std::string command;
  std::string user;
  Job job{};
  std::uint64_t kernels_estimated_bytes = 0;
  bool cb_estimate = false;
  PerKind<KindFigures> kinds{};         // sums over all devices; unknown if not `readable`
  bool readable = false;                // true if the content was read as a segment
  bool abandoned = false;               // its server is gone; the client may still live
  bool clean_exit = false;              // the process closed its segment, and held nothing
  std::vector<HeldAllocation> largest;  // at most kLargestHeld, largest first
  // The first line of the error message, if this is a copy that was made at an out-of-memory error.
  std::optional<std::string> failure;
};
inline constexpr std::size_t kLargestHeld = 10;

struct DeadSegments {
  std::vector<DeadSegment> segments;
  std::vector<std::string> warnings;  // what could not be read, and why
};

// Finds the segments whose owner is gone (no process holds the lock on the file), and the proxy
// segments of clients that ended while their server was running. Also finds incomplete files that
// no process is writing any more. Removes nothing.
[[nodiscard]] DeadSegments find_dead(const std::string& directory);
// Like find_dead(directory), but searches only the files with these names.
[[nodiscard]] DeadSegments find_dead(const std::string& directory,
                                     const std::vector<std::string>& names);

// Finds the copies of segments that were made at an out-of-memory error
// (read/collector/failures.hpp) and whose process is gone. Also finds incomplete copies. Removes
// nothing.
[[nodiscard]] DeadSegments find_failed(const std::string& directory);

// Finds the segments that were kept for a reader (TTMEM_KEEP_FOR) and that the reader did not
// remove before its end. Removes nothing.
[[nodiscard]] DeadSegments find_kept(const std::string& directory);

// Finds the proxy segments of servers that were killed. The figures of these segments may be out of
// date, because the clients may still live. Removes nothing.
[[nodiscard]] DeadSegments find_abandoned(const std::string& directory);

struct ReapReport {
  std::uint64_t removed = 0;
  std::vector<std::string> warnings;  // what could not be removed, and why
};

// Removes the segments of `dead` that still exist and are still dead. Their content is lost: print
// the content before this call.
[[nodiscard]] ReapReport reap(const std::string& directory, const std::vector<DeadSegment>& dead);

// A region of TT-Metal with rows of dead processes. A killed process leaves its row, and TT-Metal
// never removes the row.
struct DeadRegion {
  std::string path;
  std::uint64_t uid = 0;  // uid of the chip; 0: unknown
  std::uint32_t device_id = 0;
  bool in_use = false;  // a process of a row lives, or a process has the file mapped
  std::vector<RowEvidence> dead;
};
using DeadRegions = std::vector<DeadRegion>;

// Finds the regions with rows of dead processes. Removes nothing.
[[nodiscard]] DeadRegions find_dead_regions(const std::string& directory);

// Removes the files of the regions that are not in use. TT-Metal makes a new file when it needs a
// region. The rows of a region in use are never changed, because TT-Metal writes to them.
[[nodiscard]] ReapReport reap_regions(const DeadRegions& regions);

}  // namespace ttmem::collector
