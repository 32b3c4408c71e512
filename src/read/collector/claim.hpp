// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "read/collector/lock_holders.hpp"
#include "read/collector/process_info.hpp"
#include "read/collector/segment_files.hpp"
#include "segment/reader/segment_image.hpp"

namespace ttmem::collector {

// The process that a segment names, as far as /proc shows it.
struct Claim {
  std::optional<ProcessFacts> facts;     // nullopt if the process has ended or is not visible
  bool foreign_pid = false;              // the pid in the segment is of another pid namespace
  std::optional<std::int32_t> host_pid;  // pid in the reader's namespace; nullopt if unknown
};

// Checks, during one pass, that each segment belongs to the process that the segment names. Not
// thread-safe.
class ClaimChecker {
 public:
  // Fails if the name of the file does not match its content, or if the owner of the file does not
  // own the process. A pid of another pid namespace belongs to another process here, so check()
  // does not look up this pid. If the process is `alive`, check() looks up the holder of the file's
  // lock instead.
  [[nodiscard]] Result<Claim> check(const std::string& path, const SegmentName& name,
                                    const segment::SegmentImage& image, const OpenFile& file,
                                    bool alive);

 private:
  [[nodiscard]] Claim find(const SegmentName& name, const segment::SegmentImage& image,
                           const OpenFile& file, bool alive);

  std::uint32_t own_namespace_ = own_pid_namespace();
  LockHolders holders_;
};

}  // namespace ttmem::collector
