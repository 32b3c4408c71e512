// SPDX-License-Identifier: Apache-2.0
//
// Copies the segment when the process runs out of memory. The copy shows what the process held at
// that moment, even after the process has freed everything and ended.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/open_above_streams.hpp"
#include "base/thread_state_guard.hpp"
#include "base/unique_fd.hpp"
#include "segment/writer/all_of_chunks.hpp"
#include "segment/writer/segment_writer.hpp"
#include "segment/writer/write_all.hpp"

namespace ttmem::segment {
namespace {

// A copy takes at most a quarter of the free space. The workload and other processes have shared
// memory in the same file system, and may be killed if the file system is full.
constexpr std::uint64_t kPartOfFree = 4;

bool has_room(int file, std::uint64_t bytes) noexcept {
  struct statvfs space {};
  if (::fstatvfs(file, &space) != 0 || space.f_blocks == 0)
    return true;  // assumes that there is room: the space is unknown or unlimited
  return std::uint64_t{space.f_bavail} * space.f_frsize / kPartOfFree >= bytes;
}

// Creates the file of a copy. Replaces the incomplete file of a process that was killed while it
// made a copy.
UniqueFd make_file(const std::string& path, mode_t mode) noexcept {
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
  UniqueFd file = open_above_streams(path.c_str(), flags, mode);
  if (!file && errno == EEXIST) {
    if (::unlink(path.c_str()) == 0) {
      file = open_above_streams(path.c_str(), flags, mode);
    } else {
      errno = EEXIST;  // the file belongs to another user
    }
  }
  if (file) ::fchmod(file.get(), mode);  // sets the bits that the umask removed in open()
  return file;
}

}  // namespace

FailureRecord& SegmentWriter::failure() noexcept {
  return *reinterpret_cast<FailureRecord*>(reinterpret_cast<char*>(header_) + kFailureOffset);
}

std::uint64_t SegmentWriter::bytes_without_events() const noexcept {
  const std::uint64_t ring = (ring_mask_ + 1) * sizeof(EventRecord);
  return kHeaderBytes + std::uint64_t{chunk_kinds_.size()} * kChunkBytes - ring;
}

int SegmentWriter::keep_failed() noexcept {
  if (in_memory_) return ENOTSUP;
  const ThreadStateGuard guard;
  try {
    const std::string unfinished = path_ + kUnfinishedSuffix.data();
    int failed = write_failed(unfinished);
    if (failed == EEXIST) return failed;  // does not touch the file of another user
    const std::string kept = path_ + kFailedSuffix.data();
    if (failed == 0 && ::rename(unfinished.c_str(), kept.c_str()) != 0) failed = errno;
    if (failed != 0) ::unlink(unfinished.c_str());
    has_failed_ = has_failed_ || failed == 0;
    return failed;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

// Writes the copy. The ring becomes a hole in the file: the other chunks keep their offsets, and
// the ring takes no space.
int SegmentWriter::write_failed(const std::string& path) noexcept {
  const std::uint64_t bytes = bytes_without_events();
  const off_t end = kHeaderBytes + static_cast<off_t>(chunk_kinds_.size()) * kChunkBytes;
  if (bytes > kMaxFailedBytes || !may_reach(end)) return EFBIG;
  const UniqueFd file = make_file(path, mode_);
  if (!file) return errno;
  if (!has_room(file.get(), bytes)) return ENOSPC;
  const bool written =
      write_all(file.get(), header_, kHeaderBytes, 0) &&
      all_of_chunks([&](ChunkKind kind, const void* from, off_t offset) {
        return kind == ChunkKind::event || write_all(file.get(), from, kChunkBytes, offset);
      }) &&
      ::ftruncate(file.get(), end) == 0;
  return written ? 0 : errno;
}

// If no copy could be made, links the segment under the name of the copy. The segment keeps its own
// name too, for a reader that asked for the segment.
void SegmentWriter::leave_failed() noexcept {
  if (in_memory_ || is_failure_forgotten_ || failure().not_kept_error == 0) return;
  try {
    const std::string unfinished = path_ + kUnfinishedSuffix.data();
    if (::link(path_.c_str(), unfinished.c_str()) != 0) return;
    const std::string kept = path_ + kFailedSuffix.data();
    if (::rename(unfinished.c_str(), kept.c_str()) != 0) ::unlink(unfinished.c_str());
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): no copy is left
  }
}

void SegmentWriter::drop_failed() noexcept {
  is_failure_forgotten_ = true;
  if (!has_failed_) return;
  has_failed_ = false;
  try {
    ::unlink((path_ + kFailedSuffix.data()).c_str());
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the copy stays, as evidence
  }
}

}  // namespace ttmem::segment
