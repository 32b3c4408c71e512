// SPDX-License-Identifier: Apache-2.0
//
// The files that a process leaves for a reader: its segment when the process ends or calls exec,
// and a symbolic link when the process cannot have a segment.
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string>

#include "base/clock.hpp"
#include "base/thread_state_guard.hpp"
#include "segment/layout/public_run_ids.hpp"
#include "segment/writer/segment_writer.hpp"
#include "segment/writer/whole_ids.hpp"

namespace ttmem::segment {
namespace {

constexpr std::uint32_t kMaxNames = 256;

// The maximum length of the target of a link. tmpfs stores a longer target in a page, and there may
// be no space for a page.
constexpr std::size_t kMaxTargetBytes = 126;

// Renames a file. Unlike rename(), fails if `to` exists.
bool move(const std::string& from, const std::string& to) noexcept {
  if (::link(from.c_str(), to.c_str()) != 0) return false;
  ::unlink(from.c_str());
  return true;
}

}  // namespace

// Renames the file, so that the reader finds the file (kKeptSuffix). Returns false if the file
// keeps its old name. A process that calls exec several times leaves several files. A number then
// keeps their names apart.
bool SegmentWriter::keep(const std::string& path) const noexcept {
  const ThreadStateGuard guard;
  try {
    const std::string suffix =
        kKeptSuffix.data() + std::to_string(kept_for_) + "." + std::to_string(kept_for_namespace_);
    if (move(path, path + suffix)) return true;
    // The name is taken. Adds a number that is computed from the time, and so is most likely
    // unused.
    std::uint32_t number = static_cast<std::uint32_t>(clock_ns(CLOCK_MONOTONIC) / 1000) >> 1U;
    for (std::uint32_t i = 0; i < kMaxNames && errno == EEXIST; ++i) {
      if (move(path, base_path_ + "." + std::to_string(++number) + suffix)) return true;
    }
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the file keeps its old name
  }
  return false;
}

// Creates a symbolic link whose name contains the reason why there is no segment. If the link
// cannot be created either, the process is not counted as untracked.
void SegmentWriter::leave_mark(const Options& options, const Identity& self) const noexcept {
  if (in_memory_ || is_proxy_) return;
  try {
    const std::string public_ids = public_run_ids(options.run);  // every user can read a link
    const std::string ids(whole_ids(public_ids, kMaxTargetBytes));
    const std::string name = path_ + kUntrackedSuffix.data() + std::to_string(failure_error_) +
                             "." + std::to_string(self.pid_namespace);
    if (::symlink(ids.empty() ? "-" : ids.c_str(), name.c_str()) != 0) return;
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): no link is left
  }
}

}  // namespace ttmem::segment
