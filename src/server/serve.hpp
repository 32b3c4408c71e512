// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace ttmem::server {

struct ServeOptions {
  std::string directory;              // of the segments
  std::string socket;                 // path
  std::optional<mode_t> socket_mode;  // none: 0666 for root's server, whom all may tell; else 0600
  std::string http_address = "127.0.0.1";
  std::uint16_t http_port = 9488;  // 0: the system chooses; the log says which
  bool quiet = false;              // warnings only
  bool reap = true;
  bool process_metrics = true;
  std::chrono::seconds history{86400};
};

// Serves until SIGINT or SIGTERM. Returns the exit code; what went wrong has been said.
int serve(const ServeOptions& options);

}  // namespace ttmem::server
