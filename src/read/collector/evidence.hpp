// SPDX-License-Identifier: Apache-2.0
//
// What one pass over a directory found: the input of build_snapshot().
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

// Which file a segment was read from, and by what a change is recognised. A new file may get the
// name and inode number of a removed one; its header, which is in the fingerprint, then has another
// time of creation.
struct Origin {
  std::string name;
  dev_t file_device = 0;
  ino_t file_number = 0;
  segment::Fingerprint fingerprint;
  bool settled = false;  // no need to read again while the fingerprint is the same
};

// A segment that was read and is valid.
struct SegmentEvidence {
  segment::SegmentImage image;
  model::State state = model::State::alive;
  std::string user;
  Job job{};              // that of the image, and what /proc adds while it lives
  bool this_boot = true;  // false: its times are of another boot
  // /proc shows the very process, by pid, start time and owner. False: it is of the past, or of a
  // pid namespace that this one does not see.
  bool confirmed = false;
  bool foreign_pid = false;                // its pid is of another pid namespace
  std::optional<std::int32_t> host_pid{};  // the pid that it has here; none: unknown
  Origin origin{};
  // geometry_of(image), computed once for many passes. Only of the living: nobody needs that of
  // the dead.
  std::vector<DeviceGeometry> geometry{};
};

// Its pid for a sentence: "7", "7 of another pid namespace (81234 here)".
[[nodiscard]] std::string pid_text(const SegmentEvidence& segment);

// How long ago `when_ns` of the segment's own clock was; 0: unknown.
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

// A region of TT-Metal's own.
struct RegionEvidence {
  std::string file;           // its name
  std::uint32_t version = 0;  // of its layout
  std::uint64_t uid = 0;      // 0: unknown
  std::uint32_t device_id = 0;
  std::vector<RowEvidence> rows;

  friend bool operator==(const RegionEvidence&, const RegionEvidence&) = default;
};

// A process that has a chip open and reports nothing.
struct Untracked {
  std::int32_t pid = 0;  // 0: all those of pid namespaces that this one does not see
  std::uint64_t start_time_ticks = 0;
  std::string name{};
  std::string command{};
  std::string user{};
  Job job{};
  bool may_hold = true;          // false: it has no TT-Metal, and so no memory of the chip
  bool unreadable = false;       // it is tracked: a warning about its segment says so already
  bool segment_deleted = false;  // it is tracked, and nobody finds its segment
  std::string reason{};          // "tracking is switched off (...)"
  std::string advice{};          // "start it with ..."; empty: there is none

  friend bool operator==(const Untracked&, const Untracked&) = default;
};

struct Evidence {
  std::uint64_t time_unix_ns = 0;
  std::uint64_t monotonic_ns = 0;
  std::string host;
  std::string user;  // who looks
  std::string directory;
  std::vector<SegmentEvidence> segments;
  std::vector<RegionEvidence> regions;
  driver::Driver driver;
  std::vector<Untracked> untracked;  // by pid
  std::vector<std::string> warnings;
  std::vector<std::string> unread;  // those of them about what could not be read

  bool listed = false;                  // the directory could be read
  bool changed = true;                  // more than the time is new since the pass before
  std::vector<std::string> incomplete;  // names of files that are no segments yet
  std::uint64_t dead_marks = 0;         // of ended processes that had no segment
  std::vector<std::string> failed;      // names of copies that failed processes left, or leave
};

}  // namespace ttmem::collector
