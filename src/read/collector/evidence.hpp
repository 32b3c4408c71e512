// SPDX-License-Identifier: Apache-2.0
//
// The results of one pass over a directory, which are the input of build_snapshot().
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "read/collector/core_geometry.hpp"
#include "read/collector/tt_metal_region.hpp"
#include "read/driver/chips.hpp"
#include "read/model/snapshot.hpp"
#include "segment/reader/fingerprint.hpp"
#include "segment/reader/segment_image.hpp"

namespace ttmem::collector {

// The file from which a segment was read, and the data that show whether the file has changed. A
// new file may get the name and inode number of a removed file. The two files then differ in the
// creation time in the header, which is part of the fingerprint.
struct SegmentOrigin {
  std::string name;
  dev_t file_device = 0;
  ino_t file_number = 0;
  segment::Fingerprint fingerprint;
  bool settled = false;  // true: not read again while the fingerprint is the same
};

// A segment that was read and is valid.
struct SegmentEvidence {
  segment::SegmentImage image;
  model::State state = model::State::alive;
  std::string user;
  Job job{};              // from the image, completed from /proc while the process lives
  bool this_boot = true;  // false if the segment is from another boot
  // True if /proc shows a process with the pid, the start time and the owner of the segment. False
  // if the process has ended or is in a pid namespace that this process cannot see.
  bool confirmed = false;
  bool foreign_pid = false;                // the pid of the image belongs to another pid namespace
  std::optional<std::int32_t> host_pid{};  // the pid in the reader's pid namespace
  SegmentOrigin origin{};
  // geometry_of(image), computed once for many passes. Empty for a dead process.
  std::vector<DeviceGeometry> geometry{};
};

// Returns the pid for a sentence: "7", or "7 of another pid namespace (81234 here)".
[[nodiscard]] std::string pid_text(const SegmentEvidence& segment);

// Returns the time from `when_ns` to `monotonic_ns`. Returns 0 (unknown) if the segment is of
// another boot, or if `when_ns` is not before `monotonic_ns`.
[[nodiscard]] inline std::uint64_t age_ns(const SegmentEvidence& segment, std::uint64_t when_ns,
                                          std::uint64_t monotonic_ns) {
  return segment.this_boot && when_ns < monotonic_ns ? monotonic_ns - when_ns : 0;
}

struct RowEvidence {
  RegionRow row;
  model::State state = model::State::alive;
  std::string user;
  Job job{};

  friend bool operator==(const RowEvidence&, const RowEvidence&) = default;
};

// A region that TT-Metal writes.
struct RegionEvidence {
  std::string file;           // file name
  std::uint32_t version = 0;  // version of the region's layout
  std::uint64_t uid = 0;      // 0: unknown
  std::uint32_t device_id = 0;
  std::vector<RowEvidence> rows;

  friend bool operator==(const RegionEvidence&, const RegionEvidence&) = default;
};

// A process that has a chip open and reports nothing.
struct Untracked {
  std::int32_t pid = 0;  // 0: all processes of pid namespaces that this process cannot see
  std::uint64_t start_time_ticks = 0;
  std::string name{};
  std::string command{};
  std::string user{};
  Job job{};
  bool may_hold = true;  // false if TT-Metal is not loaded, so that the process holds no memory
  // True if the process has a segment that cannot be read. A warning about the segment exists
  // already.
  bool unreadable = false;
  bool segment_deleted = false;  // true if the process writes a segment that was deleted
  std::string reason{};          // why the process is not tracked: "tracking is switched off (...)"
  std::string advice{};          // "start it with ..."; empty if there is none

  friend bool operator==(const Untracked&, const Untracked&) = default;
};

struct Evidence {
  std::uint64_t time_unix_ns = 0;
  std::uint64_t monotonic_ns = 0;
  std::string host;
  std::string user;  // the user who runs the pass
  std::string directory;
  std::vector<SegmentEvidence> segments;
  std::vector<RegionEvidence> regions;
  driver::Driver driver;
  std::vector<Untracked> untracked;  // sorted by pid
  std::vector<std::string> warnings;
  std::vector<std::string> unread;  // the warnings about data that could not be read

  bool listed = false;                  // true if the directory could be read
  bool changed = true;                  // false if only times or sensors changed
  std::vector<std::string> incomplete;  // names of files that are not segments yet
  std::uint64_t dead_marks = 0;         // number of ended processes that had no segment
  std::vector<std::string> failed;      // names of copies made at out-of-memory errors
};

}  // namespace ttmem::collector
