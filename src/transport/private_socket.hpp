// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace ttmem::transport {

// Gives the calling thread a table of file descriptors of its own, empty but for stderr if that is
// to be kept. From then on nothing that this thread opens is seen by the workload: it cannot close
// our socket with its own descriptors, or write into it; a child that it forks does not keep the
// connection open; and we keep nothing of it open. False, with errno, when the system refuses: then
// the thread must not open anything.
[[nodiscard]] bool leave_the_descriptors_of_the_process(bool keep_stderr) noexcept;

// A connection to a Unix stream socket, for a thread with descriptors of its own. Never blocks but
// in wait_until_writable(), raises no signal. One thread.
//
// The system calls are made directly: a sanitizer in the workload keeps book of descriptors by
// number, and would take ours for those of the workload that have the same numbers.
class PrivateSocket {
 public:
  PrivateSocket() = default;
  ~PrivateSocket() { close(); }
  PrivateSocket(const PrivateSocket&) = delete;
  PrivateSocket& operator=(const PrivateSocket&) = delete;

  // The longest path that a socket can have.
  static std::size_t longest_path() noexcept;

  // 0, or the errno: ENOENT and ECONNREFUSED when no server is there.
  [[nodiscard]] int connect(const std::string& path) noexcept;
  void close() noexcept;

  // How many bytes were taken, 0 when it would have to wait; -1 when the connection is over.
  [[nodiscard]] std::ptrdiff_t send(const void* bytes, std::size_t size) noexcept;
  void wait_until_writable(std::chrono::milliseconds at_most) noexcept;
  // Whether the other side has closed. What it sent is thrown away.
  [[nodiscard]] bool is_over() noexcept;

 private:
  int fd_ = -1;
};

}  // namespace ttmem::transport
