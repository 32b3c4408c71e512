// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace ttmem::serve {

// A Unix stream socket that listens at a path. The destructor removes the file at the path.
class Listener {
 public:
  Listener() = default;
  ~Listener() { close(); }
  Listener(Listener&& other) noexcept = default;
  Listener& operator=(Listener&& other) noexcept = default;

  // Listens at the path. Replaces a socket that a killed server of root or of this user left. Fails
  // if a server already listens at the path (the message has its pid), if the path is not a socket
  // or belongs to another user, or if the socket cannot be created.
  [[nodiscard]] static Result<Listener> open(const std::string& path, mode_t mode);

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

  // Returns true if the file at the path belongs to neither root nor this user.
  [[nodiscard]] static bool is_of_another(const std::string& path);
  // Creates the directory of a socket if it is missing. Fails unless the directory belongs to this
  // user and no other user can write to it.
  [[nodiscard]] static Result<void> make_directory(const std::string& path);

  // Removes the file at the path, if the file is still the socket of this listener.
  void close() noexcept;

 private:
  std::string path_;
  UniqueFd fd_;
  dev_t device_ = 0;
  ino_t number_ = 0;
};

}  // namespace ttmem::serve
