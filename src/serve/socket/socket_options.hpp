// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace ttmem::serve {

struct SocketOptions {
  std::string directory;  // directory of the segments
  std::string path;       // path of the socket
  // Path of a socket where no other user can create files; empty: no such socket.
  std::string safe_path;
  // Nullopt: 0666 for root, because every user may report to root; otherwise 0600.
  std::optional<mode_t> mode;
};

}  // namespace ttmem::serve
