// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace ttmem::segment {

// Writes all bytes at `offset`. Returns false on failure, with the reason in errno.
inline bool write_all(int fd, const void* from, std::size_t bytes, off_t offset) noexcept {
  const auto* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t written = ::pwrite(fd, at, bytes, offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    offset += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace ttmem::segment
