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

// The process that a segment is about, as far as /proc shows it.
struct Claim {
  std::optional<ProcessFacts> facts;     // none: it has ended, or is not visible here
  bool foreign_pid = false;              // the pid in the segment is of another pid namespace
  std::optional<std::int32_t> host_pid;  // the pid that it has here; none: unknown
};

// Checks in one pass that segments are what they claim. Not thread-safe.
class ClaimChecker {
 public:
  // Fails when the name of the file does not match its content, or when the owner of the file does
  // not own the process. A pid of another pid namespace is not looked up here, where it means
  // another process; the holder of the file's lock is, while it lives (`alive`).
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
