// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace ttmem::serve {

struct SocketOptions {
  std::string directory;  // directory of the segments
  std::string path;       // path of the socket
  // Path of a second socket, in a directory where no other user can create files. Empty: there is
  // no second socket.
  std::string safe_path;
  // The mode of the sockets. nullopt means 0666 if the server belongs to root, because every user
  // may report to root. Otherwise nullopt means 0600.
  std::optional<mode_t> mode;
};

}  // namespace ttmem::serve
