// SPDX-License-Identifier: Apache-2.0
//
// Writes the file of a segment again, with all its contents, if the file was deleted while its
// process lives.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "base/open_above_streams.hpp"
#include "base/thread_state_guard.hpp"
#include "segment/writer/all_of_chunks.hpp"
#include "segment/writer/segment_writer.hpp"
#include "segment/writer/write_all.hpp"

namespace ttmem::segment {
namespace {

// Replaces the mapping at `address` by a mapping of the file `fd`.
bool map_over(void* address, std::size_t bytes, int fd, off_t offset) noexcept {
  return ::mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd,
                offset) == address;
}

}  // namespace

void* SegmentWriter::chunk(ChunkKind kind, std::size_t number) const noexcept {
  switch (kind) {
    case ChunkKind::device:
      return devices_.chunks_[number];
    case ChunkKind::allocation:
      return allocations_.chunks_[number];
    case ChunkKind::program:
      return programs_.chunks_[number];
    case ChunkKind::cb:
      return cbs_.chunks_[number];
    case ChunkKind::text:
      return texts_.chunks_[number];
    case ChunkKind::device_set:
      return device_sets_.chunks_[number];
    default:
      return reinterpret_cast<char*>(ring_) + number * kChunkBytes;
  }
}

void SegmentWriter::restore_deleted_file() noexcept {
  if (in_memory_ || header_ == nullptr) return;
  const ThreadStateGuard guard;
  struct stat facts {};
  if (!has_file() || ::fstat(fd_.get(), &facts) != 0 || facts.st_nlink != 0) return;
  UniqueFd file = open_above_streams(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
                                     facts.st_mode & 0777);
  if (!file) return;
  if (!fill(file.get(), facts)) {
    ::unlink(path_.c_str());
    return;
  }
  // Readers ignore the file until it has its magic, so they never read an incomplete file.
  const bool moved = all_of_chunks([&](ChunkKind, void* from, off_t offset) {
                       return map_over(from, kChunkBytes, file.get(), offset);
                     }) &&
                     map_over(header_, kHeaderBytes, file.get(), 0);
  if (moved)
    std::atomic_ref<std::uint64_t>(header_->magic).store(kMagic, std::memory_order_release);
  ::fstat(file.get(), &facts);
  file_device_ = facts.st_dev;
  file_number_ = facts.st_ino;
  fd_ = std::move(file);
}

// Locks the new file and copies everything to it except the magic.
bool SegmentWriter::fill(int file, const struct stat& old) noexcept {
  constexpr std::size_t kMagicBytes = sizeof header_->magic;
  ::fchmod(file, old.st_mode & 0777);  // sets the bits that the umask removed in open()
  return may_reach(old.st_size) && ::flock(file, LOCK_EX | LOCK_NB) == 0 &&
         ::posix_fallocate(file, 0, old.st_size) == 0 &&
         write_all(file, reinterpret_cast<const char*>(header_) + kMagicBytes,
                   kHeaderBytes - kMagicBytes, kMagicBytes) &&
         all_of_chunks([&](ChunkKind, void* from, off_t offset) {
           return write_all(file, from, kChunkBytes, offset);
         });
}

}  // namespace ttmem::segment
