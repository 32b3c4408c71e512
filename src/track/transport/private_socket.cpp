// SPDX-License-Identifier: Apache-2.0
#include "track/transport/private_socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ttmem::transport {
namespace {

constexpr unsigned kLast = ~0U;
constexpr unsigned kUnshare = 2;  // CLOSE_RANGE_UNSHARE, Linux 5.9
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

// The maximum number of descriptors that are closed if Linux has no close_range().
constexpr rlim_t kOldKernelLimit = 65536;

bool close_one_by_one(bool keep_stderr) noexcept {
  if (::unshare(CLONE_FILES) != 0) return false;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const auto end = static_cast<int>(std::min(limit.rlim_cur, kOldKernelLimit));
  for (int fd = 0; fd < end; ++fd) {
    if (!keep_stderr || fd != STDERR_FILENO) ::syscall(SYS_close, fd);
  }
  return true;
}

}  // namespace

bool unshare_descriptors(bool keep_stderr) noexcept {
  if (!keep_stderr) {
    if (::syscall(SYS_close_range, 0U, kLast, kUnshare) == 0) return true;
  } else if (::syscall(SYS_close_range, STDERR_FILENO + 1U, kLast, kUnshare) == 0) {
    return ::syscall(SYS_close_range, 0U, STDERR_FILENO - 1U, 0U) == 0;
  }
  return close_one_by_one(keep_stderr);
}

std::size_t PrivateSocket::longest_path() noexcept { return sizeof(sockaddr_un::sun_path) - 1; }

int PrivateSocket::connect(const std::string& path) noexcept {
  close();
  sockaddr_un address{};
  if (path.size() > longest_path()) return ENAMETOOLONG;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  const auto low = static_cast<int>(
      ::syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (low < 0) return errno;
  // The socket must not get the number of stdin, stdout or stderr, which may be closed in this
  // thread.
  fd_ = static_cast<int>(::syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const int failure = fd_ < 0 ? errno : 0;
  ::syscall(SYS_close, low);
  if (failure != 0) return failure;
  // Connecting a Unix socket succeeds or fails at once. EAGAIN means that the server's backlog is
  // full.
  if (::syscall(SYS_connect, fd_, &address, sizeof address) == 0) return 0;
  const int refused = errno;
  close();
  return refused;
}

void PrivateSocket::close() noexcept {
  if (fd_ >= 0) ::syscall(SYS_close, fd_);
  fd_ = -1;
}

// Asks Linux for the user of the listening process. The owner of the file at the path may be
// another user.
std::optional<uid_t> PrivateSocket::owner() const noexcept {
  ucred peer{};
  socklen_t size = sizeof peer;
  const long failed = ::syscall(SYS_getsockopt, fd_, SOL_SOCKET, SO_PEERCRED, &peer, &size);
  return failed == 0 ? std::optional(peer.uid) : std::nullopt;
}

std::ptrdiff_t PrivateSocket::send(const void* bytes, std::size_t size) noexcept {
  const long sent =
      ::syscall(SYS_sendto, fd_, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT, nullptr, 0);
  if (sent >= 0) return sent;
  return errno == EAGAIN || errno == EINTR ? 0 : -1;
}

void PrivateSocket::wait_until_writable(std::chrono::milliseconds at_most) noexcept {
  pollfd wanted{fd_, POLLOUT, 0};
  timespec time{static_cast<time_t>(at_most.count() / 1000),
                static_cast<long>(at_most.count() % 1000 * 1'000'000)};
  ::syscall(SYS_ppoll, &wanted, 1, &time, nullptr, 0);
}

bool PrivateSocket::is_over() noexcept {
  char ignored[256];
  const long got =
      ::syscall(SYS_recvfrom, fd_, ignored, sizeof ignored, MSG_DONTWAIT, nullptr, nullptr);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

}  // namespace ttmem::transport
