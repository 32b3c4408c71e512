// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace ttmem::transport {

// Gives the calling thread its own table of file descriptors, which is empty except for stderr if
// `keep_stderr`. The workload does not see descriptors that this thread opens afterwards: the
// workload cannot close our socket or write into it, and its forked children do not keep the
// connection open. This thread keeps no file of the workload open either. Returns false and sets
// errno if the system refuses; the thread must then open nothing.
[[nodiscard]] bool unshare_descriptors(bool keep_stderr) noexcept;

// A connection to a Unix stream socket, for a thread after unshare_descriptors(). Blocks only in
// wait_until_writable() and raises no signal. For use by one thread.
//
// Makes the system calls directly. A sanitizer in the workload tracks descriptors by number, and
// would confuse our descriptors with the workload's descriptors of the same numbers.
class PrivateSocket {
 public:
  PrivateSocket() = default;
  ~PrivateSocket() { close(); }
  PrivateSocket(const PrivateSocket&) = delete;
  PrivateSocket& operator=(const PrivateSocket&) = delete;

  static std::size_t longest_path() noexcept;

  // Returns 0 or the errno. ENOENT or ECONNREFUSED means that there is no server.
  [[nodiscard]] int connect(const std::string& path) noexcept;
  void close() noexcept;
  // Returns the user of the server, or nullopt if the system does not report the user.
  [[nodiscard]] std::optional<uid_t> owner() const noexcept;

  // Returns the number of bytes sent, 0 if sending would block, or -1 if the connection is over.
  [[nodiscard]] std::ptrdiff_t send(const void* bytes, std::size_t size) noexcept;
  void wait_until_writable(std::chrono::milliseconds at_most) noexcept;
  // Returns true if the server has closed the connection. Discards data from the server.
  [[nodiscard]] bool is_over() noexcept;

 private:
  int fd_ = -1;
};

}  // namespace ttmem::transport
