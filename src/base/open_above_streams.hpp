// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/unique_fd.hpp"

namespace ttmem {

// Occupies the descriptors of closed standard streams, so that open() returns a descriptor above 2.
// Reads and writes of the process on the occupied descriptors still fail with EBADF.
class ClosedStreamsGuard {
 public:
  ClosedStreamsGuard() noexcept {
    for (std::size_t stream = 0; stream < held_.size(); ++stream) {
      const bool is_closed = ::fcntl(static_cast<int>(stream), F_GETFD) < 0;
      if (is_closed) held_[stream] = ::open("/", O_PATH | O_CLOEXEC);
    }
  }
  // Closes the occupied descriptors. If another thread has meanwhile replaced an occupied
  // descriptor by a stream, that stream stays open.
  ~ClosedStreamsGuard() {
    for (const int fd : held_) {
      const int flags = fd < 0 ? -1 : ::fcntl(fd, F_GETFL);
      if (flags >= 0 && (flags & O_PATH) != 0) ::close(fd);
    }
  }
  ClosedStreamsGuard(const ClosedStreamsGuard&) = delete;
  ClosedStreamsGuard& operator=(const ClosedStreamsGuard&) = delete;

 private:
  std::array<int, STDERR_FILENO + 1> held_{-1, -1, -1};
};

// Opens a file like open(2), with O_CLOEXEC and a descriptor above 2. A program that has closed its
// standard streams may still write to descriptors 0 to 2: if a file of ttmem had such a descriptor,
// the program would write into the file. Returns an empty descriptor on failure, with the reason in
// errno.
[[nodiscard]] inline UniqueFd open_above_streams(const char* path, int flags,
                                                 mode_t mode = 0) noexcept {
  UniqueFd file;
  int reason = 0;
  {
    const ClosedStreamsGuard guard;
    file = UniqueFd(::open(path, flags | O_CLOEXEC, mode));
    reason = errno;
  }
  // If another thread closed a stream after the guard was constructed, the descriptor may still be
  // 2 or less. Moves the file to a descriptor above 2.
  if (file && file.get() <= STDERR_FILENO) {
    file = UniqueFd(::fcntl(file.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    reason = errno;
  }
  errno = reason;
  return file;
}

}  // namespace ttmem
