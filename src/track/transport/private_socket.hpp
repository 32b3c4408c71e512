// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace ttmem::transport {

// Gives the calling thread its own table of file descriptors, which is empty except for stderr if
// `keep_stderr`. The workload does not see what this thread opens afterwards: it cannot close our
// socket or write into it, a child that it forks does not hold the connection open, and we hold no
// file of the workload open. False, with errno, when the system refuses; the thread must not open
// anything then.
[[nodiscard]] bool unshare_descriptors(bool keep_stderr) noexcept;

// A connection to a Unix stream socket, for a thread after unshare_descriptors(). Blocks only in
// wait_until_writable(), raises no signal. One thread.
//
// Makes the system calls directly. A sanitizer in the workload tracks descriptors by number, and
// would confuse ours with those of the workload that have the same numbers.
class PrivateSocket {
 public:
  PrivateSocket() = default;
  ~PrivateSocket() { close(); }
  PrivateSocket(const PrivateSocket&) = delete;
  PrivateSocket& operator=(const PrivateSocket&) = delete;

  static std::size_t longest_path() noexcept;

  // Returns 0 or the errno: ENOENT or ECONNREFUSED when there is no server.
  [[nodiscard]] int connect(const std::string& path) noexcept;
  void close() noexcept;
  // The user of the server; nullopt if the system does not say.
  [[nodiscard]] std::optional<uid_t> owner() const noexcept;

  // Returns the number of bytes sent, 0 when it would block, -1 when the connection is over.
  [[nodiscard]] std::ptrdiff_t send(const void* bytes, std::size_t size) noexcept;
  void wait_until_writable(std::chrono::milliseconds at_most) noexcept;
  // True if the server has closed the connection. Discards what the server sent.
  [[nodiscard]] bool is_over() noexcept;

 private:
  int fd_ = -1;
};

}  // namespace ttmem::transport
