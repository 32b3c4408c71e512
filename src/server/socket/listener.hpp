// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace ttmem::server {

// A Unix stream socket that listens at a path. Its destructor removes the path.
class Listener {
 public:
  Listener() = default;
  ~Listener() { close(); }
  Listener(Listener&& other) noexcept = default;
  Listener& operator=(Listener&& other) noexcept = default;

  // Replaces a socket that a killed server left. Fails when a server listens there (the message has
  // its pid), when the path is not a socket, and when the socket cannot be created.
  [[nodiscard]] static Result<Listener> open(const std::string& path, mode_t mode);

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

  // Removes the socket, if it is still this one.
  void close() noexcept;

 private:
  std::string path_;
  UniqueFd fd_;
  dev_t device_ = 0;
  ino_t number_ = 0;
};

}  // namespace ttmem::server
