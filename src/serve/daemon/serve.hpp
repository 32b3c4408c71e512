// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "serve/http/http_options.hpp"
#include "serve/socket/socket_options.hpp"

namespace ttmem::serve {

struct ServeOptions {
  SocketOptions socket;  // its directory is used by all parts
  HttpOptions http;
  bool quiet = false;  // warnings only
  bool reap = true;
  bool process_metrics = true;
  std::chrono::seconds history{86400};
};

// Serves until SIGINT or SIGTERM. Returns the exit code; errors have been logged.
int serve(const ServeOptions& options);

}  // namespace ttmem::serve
