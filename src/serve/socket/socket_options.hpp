// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace ttmem::serve {

struct SocketOptions {
  std::string directory;       // of the segments
  std::string path;            // of the socket
  std::string safe_path;       // of a socket where no other user can create files; empty: none
  std::optional<mode_t> mode;  // none: 0666 for root, to whom all may report; else 0600
};

}  // namespace ttmem::serve
