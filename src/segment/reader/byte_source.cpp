// SPDX-License-Identifier: Apache-2.0
#include "segment/reader/byte_source.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace ttmem::segment {

std::size_t FdSource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got =
        ::pread(fd_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::uint64_t FdSource::size() const {
  struct stat facts {};
  if (::fstat(fd_, &facts) != 0 || facts.st_size < 0) return 0;
  return static_cast<std::uint64_t>(facts.st_size);
}

std::size_t MemorySource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset >= bytes_.size()) return 0;
  const auto there = bytes_.subspan(static_cast<std::size_t>(offset));
  const std::size_t count = std::min(there.size(), out.size());
  std::copy_n(there.begin(), count, out.begin());
  return count;
}

}  // namespace ttmem::segment
