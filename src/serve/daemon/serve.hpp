// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "serve/http/http_options.hpp"
#include "serve/socket/socket_options.hpp"

namespace ttmem::serve {

struct ServeOptions {
  SocketOptions socket;  // all parts of the server use its `directory`, not only the socket
  HttpOptions http;
  bool quiet = false;  // log warnings only
  bool reap = true;
  bool process_metrics = true;
  std::chrono::seconds history{86400};
};

// Serves until SIGINT or SIGTERM. Returns the exit code; errors are already logged.
int serve(const ServeOptions& options);

}  // namespace ttmem::serve
